/* SPDX-License-Identifier: GPL-2.0 */
/* Functions with an entry to attach to, for fentry_test.c */
#ifndef _FENTRY_TEST_H
#define _FENTRY_TEST_H

long fentry_test_callee(long a, long b, long c, long d, long e, long f);
long fentry_test_other(long a, long b, long c, long d, long e, long f);
long fentry_test_caller(void);

#endif /* _FENTRY_TEST_H */
