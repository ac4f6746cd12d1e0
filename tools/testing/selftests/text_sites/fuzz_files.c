// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_files [-v] SEED WRITES TASKS [MODULE.ko]...
 *
 * Writes what a grammar makes, and what is nearly that, to the control files of function
 * tracing, in the current directory and in instances there. Instances, modules, probes and
 * tracers come and go meanwhile, and files are read and held open. So many tasks do that
 * at a time, each with its part of the writes.
 *
 * What a task does is a function of SEED and its number: with one task, the same is done in
 * the same order each time. -v prints each step before it is taken.
 *
 * Prints how many writes were taken and how many refused, then a line for each file that is
 * written to or read: "NUMBER writes|reads PATH OPTION". The number is how often that worked,
 * the option what the kernel needs to have the file, or "-". Nothing is put back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * What would take for ever is not in it: stacks of every function, or rounds of one site.
 *
 * The grammar: NAME, and what it stands for: one of the texts, which are between | or in
 * strings of their own. A <NAME> in them stands for what that does, and ` for |. The same
 * text twice is twice as likely.
 */
static const struct rule {
	const char *name, *texts[6];
} rules[] = {
	{ "function",	{ "vfs_read|vfs_write|vfs_open|schedule|kfree|ksys_read|do_sys_openat2",
			  "functions_many_7|pass|no_such|_|mutex_lock|fput" } },
	{ "glob",	{ "<function>|<function>|vfs_*|*_lock|vfs_*|ksys_*|*_fsync|v*s_r*d",
			  "[vk]fs_*|vfs_?ead|functions_many_*|*many_1*|no_such_*|*[|*" } },
	{ "number",	{ "0|1|2|7|100|65535|4294967295|99999999999999999999|-1|0x10|1e3" } },
	{ "module",	{ "functions_many|tables_test|copies_000|no_such|*|!functions_many" } },
	{ "event",	{ "sched:sched_switch|sched:sched_waking|sched:sched_process_exit",
			  "kmem:kfree|no:such|sched" } },
	{ "count",	{ "||:unlimited|:1|:5|:0|:<number>|:x" } },
	/*
	 * Not snapshot: trace.c arms the buffer once for a pattern, and disarms it for each
	 * function that is taken away, with a warning.
	 */
	{ "command",	{ "traceon<count>|traceoff<count>|stacktrace:3",
			  "enable_event:<event><count>|disable_event:<event><count>|mod:<module>",
			  "nonsense|" } },
	{ "filter1",	{ "<glob>|<glob>|<glob>|!<glob>|<number>|!<number>|*:mod:<module>",
			  "<glob>:mod:<module>|!*:mod:<module>|:mod:<module>",
			  "<function>:<command>|!<function>:<command>|vfs_r*:<command>",
			  "!vfs_r*:<command>|!*:<command>|<glob>:<function>:<number>",
			  "<dump>|!<dump>" } },
	/* Nobody calls it meanwhile: to print a buffer takes the console long. */
	{ "dump",	{ "kernel_restart:dump|kernel_restart:cpudump" } },
	{ "filter",	{ "<filter1>|<filter1>|<filter1>|<filter1> <filter1>",
			  "<filter1> <glob> <filter1>|" } },
	{ "globs",	{ "<glob>|<glob>|!<glob>|<glob> <glob>|<number>|" } },
	{ "pid",	{ "0|1|2|10|99999|<number>| " } },
	{ "pids",	{ "<pid>|<pid> <pid>|!<pid>|<pid>,<pid>|" } },
	/* Mostly nop: while all functions are traced, writes are slow. */
	{ "tracer",	{ "function|function|function_graph|function_graph|nop|nop|irqsoff|wakeup",
			  "nop|nop|nop|nop|nop|nop|nop",
			  "preemptoff|preemptirqsoff|wakeup_rt|wakeup_dl|blk|no_such|func|" } },
	/* Mostly off, for the same reason */
	{ "seldom",	{ "0|0|0|0|0|0|0|1|1|2|<number>|x|" } },
	{ "switch",	{ "0|1|1|0|2|<number>|x|" } },
	{ "option",	{ "function-fork|func-no-repeats|event-fork|funcgraph-proc",
			  "record-tgid|sym-addr|funcgraph-retval|funcgraph-irqs|fields|no_such",
			  "func-args|funcgraph-args|funcgraph-retaddr",
			  "function-trace|display-graph" } },
	{ "options",	{ "<option>|no<option>|nofunc_stack_trace" } },
	{ "events",	{ "<event>|<event>|!<event>|!<event>|sched:*|!sched:*",
			  "*:*|!*:*|!*:*|:mod:<module>|:mod:<module>" } },
	{ "name",	{ "fz0|fz0|fz1|fz2|fz3" } },
	{ "kprobe",	{ "p:<name> <function>|p:<name> <function>|r:<name> <function>|-:<name>",
			  "p:<name> <function>+5|p:<name> <function>+<number>",
			  "p:<name> <function> a=%di|-:no_such|p:<name>" } },
	{ "fprobe",	{ "f:<name> <glob>|f:<name> <function>|f:<name> <function>%return|-:<name>",
			  "-:fprobes/<name>|<kprobe>|<uprobe>|s:<name> <fields>",
			  "-:synthetic/<name>|<tprobe>|<eprobe>" } },
	{ "tprobe",	{ "t:<name> sched_switch|t:<name> kfree|t:<name> kfree a=ptr",
			  "t:<name> no_such|-:tracepoints/<name>" } },
	{ "eprobe",	{ "e:<name> sched/sched_switch|e:<name> sched.sched_waking a=$pid",
			  "e:<name> kmem/kfree a=$<field>|e:<name> no/such|-:eprobes/<name>" } },
	/* Nobody runs this program: a probe between two instructions would break it. */
	{ "uprobe",	{ "p:<name> <program>:0x40|r:<name> <program>:64|-:<name>",
			  "p:<name> <program>|p:<name> <program>:0x80(0x<number>)",
			  "p:<name> <program>:<number>",
			  "p:<name> <program>:7 a=%di|p:<name> /no/such:0" } },
	{ "program",	{ "/tmp/fuzz_program" } },
	{ "fields",	{ "int a|u64 a; pid_t b|char a[16]|unsigned long a; s8 b; u16 c",
			  "no_such a|" } },
	{ "synthetic",	{ "<name> <fields>|<name> <fields>|!<name>|!<name> <fields>" } },
	{ "marker",	{ "<module>:*|*|tables_test:pass|!*|tables_*:[",
			  "no_such:x tables_test:again|" } },
	{ "depth",	{ "0|1|2|5|50|<number>" } },
	{ "latency",	{ "clear|sort=max|sort=avg.ascending|sort=<number>|sort=.|<glob>" } },
	{ "root",	{ "duration <comparison> <depth>|ret <comparison> <number>|ret == -2",
			  "func == <function>|func <comparison> 0x<number>|common_pid == 1",
			  "no_such > 1|duration > 1ms|duration" } },
	{ "comparison",	{ "<|>|<=|>=|==|!=|&|~" } },
	{ "keep",	{ "<root>|<root>|<root> && <root>|0|(<keep>",
			  "<root> `` <root>|!(<keep>)|" } },
	{ "trigger",	{ "<trigger1>|<trigger1>|!<trigger1>|<trigger1> if prev_pid > <number>" } },
	{ "trigger1",	{ "traceon<count>|traceoff<count>|stacktrace:3|nonsense|",
			  "enable_event:<event><count>|disable_event:<event><count>",
			  "<hist>|<hist>|<hist>" } },
	/* It has a few entries: there may be many of these. */
	{ "hist",	{ "hist:keys=common_pid:size=128<hist1>",
			  "hist:keys=<field>:size=128<hist1>" } },
	{ "hist1",	{ "|:pause|:cont|:clear|:vals=<field>|:sort=hitcount|:clock=mono" } },
	/* Those of sched_switch, of a marker's event, and of a probe's */
	{ "field",	{ "prev_pid|next_comm|a|arg1|__probe_ip|__probe_func|call_site|no_such" } },
	{ "condition",	{ "common_pid <comparison> <number>|common_pid <comparison> <number>",
			  "<field> <comparison> <number>|next_comm == \"bash\"",
			  "next_comm ~ \"*sh*\"|arg1 <comparison> 5",
			  "call_site.function == <function>|CPUS{0-1}|no_such" } },
	{ "condition2",	{ "<condition>|<condition>|<condition> && <condition>|!(<condition>)|0|0",
			  "<condition> `` <condition2>|" } },
	{ "message",	{ "<function>|message <number>|<glob> <event>|" } },
	/* Not little: the tracers of latencies would stop at each that is more. */
	{ "threshold",	{ "0|0|1000000|4294967295|99999999999999999999|-1|x|" } },
	{ "cmdlines",	{ "1|16|128|1000|32768|0|<number>" } },
	{ "cpus",	{ "1|2|3|ff|0|x|<number>|" } },
	{ "clock",	{ "local|global|counter|mono|boot|x86-tsc|uptime|perf|no_such|" } },
	{ "size",	{ "1|4|64|1000|0|-1|x" } },
	{ "order",	{ "4|8|64|0|3|<number>|x" } },
	{ "round",	{ "0|3072|500|65535|99999999999999999999|-1|x" } },
};

/*
 * The files, the symbol for what is written to them, whether each instance has them, and what
 * the kernel needs to have them
 */
static const struct file {
	const char	*path, *symbol;
	int		in_instances;
	const char	*option;
} files[] = {
	{ "set_ftrace_filter",		"filter",	1, NULL },
	{ "set_ftrace_filter",		"filter",	1, NULL },
	{ "set_ftrace_notrace",		"filter",	1, NULL },
	{ "set_ftrace_pid",		"pids",		1, NULL },
	{ "set_ftrace_notrace_pid",	"pids",		1, NULL },
	{ "current_tracer",		"tracer",	1, NULL },
	{ "current_tracer",		"tracer",	1, NULL },
	{ "trace_options",		"options",	1, NULL },
	{ "options/function-fork",	"switch",	1, NULL },
	{ "options/func-no-repeats",	"switch",	1, NULL },
	{ "tracing_on",			"switch",	1, NULL },
	{ "trace",			"switch",	1, NULL },
	{ "trace_marker",		"message",	1, NULL },
	{ "trace_marker_raw",		"message",	1, NULL },
	{ "error_log",			"switch",	1, NULL },
	{ "set_event",			"events",	1, NULL },
	{ "set_event_pid",		"pids",		1, NULL },
	{ "set_event_notrace_pid",	"pids",		1, NULL },
	{ "events/enable",		"seldom",	1, NULL },
	{ "events/sched/sched_switch/enable", "switch",	1, NULL },
	{ "events/sched/filter",	"condition2",	1, NULL },
	{ "events/sched/sched_switch/filter", "condition2", 1, NULL },
	{ "events/sched/sched_switch/trigger", "trigger", 1, NULL },
	{ "events/kmem/kfree/filter",	"condition2",	1, NULL },
	{ "events/tables_test/enable",	"switch",	1, "MARKERS" },
	{ "events/tables_test/filter",	"condition2",	1, "MARKERS" },
	{ "events/tables_test/pass/filter", "condition2", 1, "MARKERS" },
	{ "events/tables_test/pass/trigger", "trigger",	1, "MARKERS" },
	{ "events/kprobes/fz0/filter",	"condition2",	1, "KPROBE_EVENTS" },
	{ "events/kprobes/fz0/trigger",	"trigger",	1, "KPROBE_EVENTS" },
	{ "events/fprobes/fz1/filter",	"condition2",	1, "FPROBE_EVENTS" },
	{ "set_marker",			"marker",	1, "MARKERS" },
	{ "tracing_cpumask",		"cpus",		1, NULL },
	{ "trace_clock",		"clock",	1, NULL },
	{ "buffer_size_kb",		"size",		1, NULL },
	{ "buffer_subbuf_size_kb",	"order",	1, NULL },
	{ "free_buffer",		"switch",	1, NULL },
	{ "snapshot",			"switch",	1, "TRACER_SNAPSHOT" },
	{ "per_cpu/cpu0/buffer_size_kb", "size",	1, NULL },
	{ "per_cpu/cpu0/trace",		"switch",	1, NULL },
	{ "per_cpu/cpu0/snapshot",	"switch",	1, "TRACER_SNAPSHOT_PER_CPU_SWAP" },
	{ "tracing_max_latency",	"number",	1, "TRACER_MAX_TRACE" },
	{ "options/func-args",		"switch",	1, "FUNCTION_TRACE_ARGS" },
	{ "options/funcgraph-args",	"switch",	1, "FUNCTION_GRAPH_ARGS" },
	{ "options/funcgraph-retaddr",	"switch",	1, "FUNCTION_GRAPH_ARGS" },
	{ "events/sched/enable",	"switch",	1, NULL },
	{ "events/kprobes/enable",	"switch",	1, "KPROBE_EVENTS" },
	{ "events/fprobes/enable",	"switch",	1, "FPROBE_EVENTS" },
	{ "events/tracepoints/enable",	"switch",	1, "FPROBE_EVENTS" },
	{ "events/eprobes/enable",	"switch",	1, "PROBE_EVENTS" },
	{ "events/uprobes/enable",	"switch",	1, "UPROBE_EVENTS" },
	{ "events/synthetic/enable",	"switch",	1, "SYNTH_EVENTS" },
	{ "set_graph_function",		"globs",	0, "FUNCTION_GRAPH_TRACER" },
	{ "set_graph_notrace",		"globs",	0, "FUNCTION_GRAPH_TRACER" },
	{ "max_graph_depth",		"depth",	0, "FUNCTION_GRAPH_TRACER" },
	{ "function_profile_enabled",	"seldom",	0, "FUNCTION_PROFILER" },
	{ "trace_stat/function_latency", "latency",	0, "FUNCTION_PROFILER" },
	{ "tracing_thresh",		"threshold",	0, NULL },
	{ "saved_cmdlines_size",	"cmdlines",	0, NULL },
	{ "stack_trace_filter",		"filter",	0, "STACK_TRACER" },
	{ "stack_max_size",		"number",	0, "STACK_TRACER" },
	{ "kprobe_events",		"kprobe",	0, "KPROBE_EVENTS" },
	{ "uprobe_events",		"uprobe",	0, "UPROBE_EVENTS" },
	{ "synthetic_events",		"synthetic",	0, "SYNTH_EVENTS" },
	{ "dynamic_events",		"fprobe",	0, "DYNAMIC_EVENTS" },
	{ "graph_keep",			"keep",		1, "FUNCTION_GRAPH_TRACER" },
	{ "graph_keep",			"keep",		1, "FUNCTION_GRAPH_TRACER" },
	{ "/proc/sys/kernel/ftrace_enabled",	   "switch", 0, NULL },
	{ "/proc/sys/kernel/stack_tracer_enabled", "seldom", 0, "STACK_TRACER" },
	{ "/sys/module/text_site/parameters/round", "round", 0, "TEXT_SITES" },
};

/* What is only read */
static const struct file to_read[] = {
	{ .path = "enabled_functions" },
	{ .path = "touched_functions" },
	{ .path = "available_filter_functions" },
	{ .path = "available_filter_functions_addrs" },
	{ .path = "available_markers",		.option = "MARKERS" },
	{ .path = "snapshot",			.option = "TRACER_SNAPSHOT" },
	{ .path = "trace",			.in_instances = 1 },
	/* None of these waits for more: they are opened with O_NONBLOCK. */
	{ .path = "trace_pipe",			.in_instances = 1 },
	{ .path = "per_cpu/cpu0/trace_pipe",	.in_instances = 1 },
	{ .path = "per_cpu/cpu1/trace_pipe_raw", .in_instances = 1 },
	{ .path = "per_cpu/cpu0/snapshot_raw",	.in_instances = 1, .option = "TRACER_SNAPSHOT" },
	{ .path = "per_cpu/cpu0/stats",		.in_instances = 1 },
	{ .path = "buffer_total_size_kb",	.in_instances = 1 },
	{ .path = "events/sched/sched_switch/hist", .in_instances = 1, .option = "HIST_TRIGGERS" },
	{ .path = "events/tables_test/pass/format", .in_instances = 1, .option = "MARKERS" },
	{ .path = "saved_cmdlines" },
	{ .path = "saved_tgids" },
	{ .path = "trace_stat/function0",	.option = "FUNCTION_PROFILER" },
	{ .path = "trace_stat/function_latency", .option = "FUNCTION_PROFILER" },
	{ .path = "trace_stat/function_latency1", .option = "FUNCTION_PROFILER" },
	{ .path = "stack_trace",		.option = "STACK_TRACER" },
	{ .path = "dyn_ftrace_total_info" },
	{ .path = "kprobe_profile",		.option = "KPROBE_EVENTS" },
	{ .path = "uprobe_profile",		.option = "UPROBE_EVENTS" },
	{ .path = "/proc/kallsyms" },
};

#define NR_INSTANCES	3
#define NR_HELD		6
#define TEXT_MAX	512

static struct image {
	void	*file;
	size_t	size;
	char	name[64];
} modules[8];

static unsigned int nr_modules, task;
static unsigned long long state;
static int verbose;

/* What became of the writes of all tasks */
static struct {
	unsigned int taken, refused;
	unsigned int writes[ARRAY_SIZE(files)], reads[ARRAY_SIZE(to_read)];
} *counts;

/* xorshift64*: the next number below @n */
static unsigned int below(unsigned int n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 2685821657736338717ull >> 33) % n;
}

static int one_in(unsigned int n)
{
	return !below(n);
}

static void say(const char *format, ...)
{
	va_list args;

	if (!verbose)
		return;
	printf("# %u: ", task);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

static const struct rule *rule_of(const char *name, size_t len)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++) {
		if (strlen(rules[i].name) == len && !memcmp(rules[i].name, name, len))
			return &rules[i];
	}
	fprintf(stderr, "fuzz_files: no rule for %.*s\n", (int)len, name);
	exit(2);
}

/* One of the texts of a rule */
static const char *choose(const struct rule *rule)
{
	const char *const *end = rule->texts, *from;
	unsigned int nr = 0;

	for (; end < rule->texts + ARRAY_SIZE(rule->texts) && *end; end++) {
		nr++;
		for (const char *c = *end; *c; c++)
			nr += *c == '|';
	}
	nr = below(nr);
	for (end = rule->texts; ; end++) {
		for (from = *end; from; from = strchr(from, '|') ? strchr(from, '|') + 1 : NULL) {
			if (!nr--)
				return from;
		}
	}
}

/* Appends what a symbol stands for. */
static void expand(const char *name, size_t len, char *text)
{
	const char *from = choose(rule_of(name, len)), *end;
	unsigned int used;

	for (; *from && *from != '|'; from++) {
		if (*from == '<' && from[1] >= 'a' && from[1] <= 'z') {
			end = strchr(from, '>');
			expand(from + 1, end - from - 1, text);
			from = end;
			continue;
		}
		used = strlen(text);
		if (used < TEXT_MAX - 1) {
			text[used] = *from == '`' ? '|' : *from;
			text[used + 1] = 0;
		}
	}
}

/* Something is wrong with it. Returns how long it is then. */
static unsigned int damage(char *text, unsigned int len)
{
	unsigned int at = len ? below(len) : 0;

	switch (below(4)) {
	case 0:
		text[at] = below(256);
		return len ?: 1;
	case 1:
		return at;
	case 2:
		memmove(text + at + 1, text + at, len - at);
		text[at] = " :*!\n\t,<>[]0\\"[below(13)];
		return len + 1;
	default:
		memmove(text + len, text + at, len - at);
		return 2 * len - at;
	}
}

static void path_of(const struct file *file, char *path, size_t size)
{
	if (file->in_instances && one_in(2))
		snprintf(path, size, "instances/fz%u/%s", below(NR_INSTANCES), file->path);
	else
		snprintf(path, size, "%s", file->path);
}

static void count(unsigned int *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void write_some(const struct file *file, int fd, const char *text, unsigned int len)
{
	const unsigned int first = one_in(8) ? below(len + 1) : len;
	int ret = write(fd, text, first);

	if (ret >= 0 && first < len)
		ret = write(fd, text + first, len - first);
	if (ret < 0) {
		count(&counts->refused);
		say("refused: %s", strerror(errno));
	} else {
		count(&counts->taken);
		count(&counts->writes[file - files]);
	}
}

/* Files that stay open for a while */
static struct {
	int			fd;
	const struct file	*file;
} held[NR_HELD];

static void step_write(void)
{
	static const int modes[] = { O_TRUNC, O_TRUNC, O_APPEND, O_APPEND, 0 };
	const struct file *file = &files[below(ARRAY_SIZE(files))];
	const unsigned int slot = below(4 * NR_HELD), mode = modes[below(ARRAY_SIZE(modes))];
	char text[2 * TEXT_MAX + 2] = "", path[128];
	unsigned int len;
	int fd = -1;

	path_of(file, path, sizeof(path));
	if (slot < NR_HELD && held[slot].fd >= 0)
		file = held[slot].file;
	expand(file->symbol, strlen(file->symbol), text);
	len = strlen(text);
	if (!one_in(10))
		text[len++] = '\n';
	if (one_in(8))
		len = damage(text, len);

	if (slot < NR_HELD && held[slot].fd >= 0) {
		say("to %s that is held as %u: %.*s", file->path, slot, len, text);
		write_some(file, held[slot].fd, text, len);
		if (one_in(3)) {
			say("close %u", slot);
			close(held[slot].fd);
			held[slot].fd = -1;
		}
		return;
	}

	say("%s %s: %.*s", mode == O_TRUNC ? ">" : mode ? ">>" : "to", path, len, text);
	fd = open(path, O_WRONLY | O_CLOEXEC | mode);
	if (fd < 0) {
		count(&counts->refused);
		say("not opened: %s", strerror(errno));
		return;
	}
	write_some(file, fd, text, len);
	if (slot < NR_HELD) {
		say("hold it as %u", slot);
		held[slot].fd = fd;
		held[slot].file = file;
	} else {
		close(fd);
	}
}

static void step_read(void)
{
	static char buf[65536];
	unsigned int times = below(8), size = one_in(4) ? below(200) + 1 : sizeof(buf);
	const int only_read = one_in(2);
	const struct file *file = only_read ? &to_read[below(ARRAY_SIZE(to_read))] :
					      &files[below(ARRAY_SIZE(files))];
	char path[128];
	int fd;

	path_of(file, path, sizeof(path));
	say("< %s, %u times %u", path, times, size);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (only_read)
		count(&counts->reads[file - to_read]);
	while (times-- && read(fd, buf, size) > 0)
		;
	close(fd);
}

static void step_instance(void)
{
	char path[64];

	snprintf(path, sizeof(path), "instances/fz%u", below(NR_INSTANCES));
	if (one_in(3)) {
		say("rmdir %s", path);
		rmdir(path);
	} else {
		say("mkdir %s", path);
		mkdir(path, 0755);
	}
}

static void step_module(void)
{
	const struct image *module;

	if (!nr_modules)
		return;
	module = &modules[below(nr_modules)];
	if (one_in(2)) {
		say("load %s", module->name);
		syscall(SYS_init_module, module->file, module->size, "");
	} else {
		say("unload %s", module->name);
		syscall(SYS_delete_module, module->name, O_NONBLOCK);
	}
}

static int do_task(unsigned long long seed, unsigned int writes)
{
	/* So that seeds that are near each other are not alike */
	state = (seed + 1 + ((unsigned long long)task << 32)) * 0x9e3779b97f4a7c15ull;
	if (!state)
		state = 1;
	for (unsigned int i = 0; i < NR_HELD; i++)
		held[i].fd = -1;

	for (unsigned int i = 0; i < writes; i++) {
		step_write();
		if (one_in(8))
			step_read();
		/* Seldom: making and freeing buffers is slow. */
		if (one_in(48))
			step_instance();
		if (one_in(24))
			step_module();
	}
	return 0;
}

static void print_uses(const char *what, const struct file *file, const unsigned int *times,
		       unsigned int nr)
{
	for (; nr--; file++)
		printf("%u %s %s %s\n", *times++, what, file->path, file->option ?: "-");
}

static void read_module(const char *path)
{
	struct image *module = &modules[nr_modules++];
	const char *name = strrchr(path, '/');
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(1);
	}
	snprintf(module->name, sizeof(module->name), "%s", name ? name + 1 : path);
	module->name[strcspn(module->name, ".")] = 0;
	module->size = st.st_size;
	module->file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (module->file == MAP_FAILED) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned int writes, tasks;
	int status, failed = 0;
	unsigned long long seed;

	if (argc > 1 && !strcmp(argv[1], "-v")) {
		verbose = 1;
		argv++;
		argc--;
	}
	if (argc < 4 || argc > 4 + (int)ARRAY_SIZE(modules)) {
		fprintf(stderr, "usage: fuzz_files [-v] SEED WRITES TASKS [MODULE.ko]...\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	writes = atoi(argv[2]);
	tasks = atoi(argv[3]);
	for (int i = 4; i < argc; i++)
		read_module(argv[i]);
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (counts == MAP_FAILED) {
		perror("mmap");
		return 1;
	}

	for (task = 0; task < tasks; task++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			_exit(do_task(seed, writes / tasks));
	}
	while (wait(&status) >= 0)
		failed |= status;
	printf("%u taken, %u refused\n", counts->taken, counts->refused);
	print_uses("writes", files, counts->writes, ARRAY_SIZE(files));
	print_uses("reads", to_read, counts->reads, ARRAY_SIZE(to_read));
	return failed ? 1 : 0;
}
