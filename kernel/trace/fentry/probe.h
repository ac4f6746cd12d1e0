/* SPDX-License-Identifier: GPL-2.0 */
/* Probes: functions with an action attached to them */
#ifndef _FENTRY_PROBE_H
#define _FENTRY_PROBE_H

struct seq_file;
struct trace_array;

void fentry_probes_show(struct seq_file *m, struct trace_array *tr);

#endif /* _FENTRY_PROBE_H */
