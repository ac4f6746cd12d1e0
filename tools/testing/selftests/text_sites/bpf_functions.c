// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_functions: attaches BPF programs to kernel functions and events and says what they
 * see. Takes commands, one a line; answers each with one line.
 *
 *   attach NAME KIND FUNCTION [VALUE]	KIND is fentry, fentry.s (which may sleep), fexit
 *					or fmod_ret; VALUE is what a fmod_ret program
 *					returns
 *   event NAME ID OFFSET SIZE		attaches to the tracing event of this number; what is
 *					seen is SIZE bytes at OFFSET in it, whoever passes it
 *   of NAME				what the kernel says that this event is, and its
 *					name
 *   detach NAME
 *   lseek OFFSET			to there: the result or -errno
 *   ioctl COMMAND ARGUMENT		the result or -errno
 *   file				the file's number, for these two
 *   run NAME				has the kernel call its test functions
 *   seen NAME				calls by this process since the last time,
 *					then arguments of the last one and, but for
 *					fentry, its return value
 *   cost FUNCTION...			cycles of the time stamp counter to attach a fentry
 *					program to each, one after the other, and to detach
 *					them again
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <linux/perf_event.h>

#define MAX_PROGRAMS	32
#define MAX_WORDS	8	/* six arguments and the return value */
#define MAX_INSNS	64

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct program {
	char	name[16];
	int	map, prog, link;
	int	offset;		/* in an event; 0: not of an event */
	int	nr_words;
	int	size[MAX_WORDS];
};

static struct program programs[MAX_PROGRAMS];

/* Read once: reading it is work that a program may see */
static struct btf *btf;

#define INSN(_code, _dst, _src, _off, _imm)				\
	((struct bpf_insn){ .code = (_code), .dst_reg = (_dst),		\
			    .src_reg = (_src), .off = (_off), .imm = (_imm) })

/* What is at the value of the program's map */
struct seen {
	unsigned long long calls, word[MAX_WORDS];
};

static int width(int size)
{
	return size == 8 ? BPF_DW : size == 4 ? BPF_W : size == 2 ? BPF_H : BPF_B;
}

/* If it is this process, or an event: count, store what the context has, return @value */
static int build(struct bpf_insn *insn, const struct program *p, int value)
{
	int n = 0, skip = 0, i;

	insn[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	if (!p->offset) {
		insn[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_pid_tgid);
		insn[n++] = INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32);
		skip = n++;
	}
	insn[n++] = INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_VALUE, 0, p->map);
	insn[n++] = INSN(0, 0, 0, 0, 0);
	insn[n++] = INSN(BPF_LDX | BPF_MEM | BPF_DW, 2, 1, 0, 0);
	insn[n++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, 1);
	insn[n++] = INSN(BPF_STX | BPF_MEM | BPF_DW, 1, 2, 0, 0);
	for (i = 0; i < p->nr_words; i++) {
		insn[n++] = p->offset ?
			INSN(BPF_LDX | BPF_MEM | width(p->size[i]), 2, 6, p->offset, 0) :
			INSN(BPF_LDX | BPF_MEM | BPF_DW, 2, 6, 8 * i, 0);
		insn[n++] = INSN(BPF_STX | BPF_MEM | BPF_DW, 1, 2, 8 + 8 * i, 0);
	}
	insn[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, value);
	insn[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	if (skip) {
		insn[skip] = INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, n - skip - 1, getpid());
		insn[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
		insn[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	}
	return n;
}

/* The sizes of a function's arguments, and of what it returns */
static int find_words(struct program *p, const char *func, int with_return)
{
	const struct btf_type *proto;
	int id, i;

	id = btf__find_by_name_kind(btf, func, BTF_KIND_FUNC);
	if (id < 0)
		return id;
	proto = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	p->nr_words = btf_vlen(proto);
	for (i = 0; i < p->nr_words; i++)
		p->size[i] = btf__resolve_size(btf, btf_params(proto)[i].type);
	if (with_return)
		p->size[p->nr_words++] = btf__resolve_size(btf, proto->type);
	return id;
}

static int create_map(struct program *p)
{
	p->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "seen", 4, sizeof(struct seen), 1, NULL);
	return p->map;
}

static int load(struct program *p, enum bpf_attach_type type, __u32 flags, const char *func,
		int value)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type, .prog_flags = flags);
	struct bpf_insn insn[MAX_INSNS];
	int id;

	id = find_words(p, func, type != BPF_TRACE_FENTRY);
	if (id < 0)
		return id;
	if (create_map(p) < 0)
		return p->map;
	opts.attach_btf_id = id;
	p->prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "seen", "GPL", insn,
				build(insn, p, value), &opts);
	return p->prog;
}

/* A program that is loaded is attached. */
static int attach(struct program *p)
{
	p->link = bpf_raw_tracepoint_open(NULL, p->prog);
	return p->link;
}

static void unload(struct program *p)
{
	if (p->link > 0)
		close(p->link);
	if (p->prog > 0)
		close(p->prog);
	if (p->map > 0)
		close(p->map);
	memset(p, 0, sizeof(*p));
}

static struct program *find(const char *name)
{
	int i;

	for (i = 0; i < MAX_PROGRAMS; i++) {
		if (!strcmp(programs[i].name, name))
			return &programs[i];
	}
	return NULL;
}

/* A program that is attached has a name; of another, nothing is left. */
static void finish(struct program *p, const char *name, int err)
{
	if (err < 0) {
		printf("%s\n", strerror(-err));
		if (p)
			unload(p);
		return;
	}
	snprintf(p->name, sizeof(p->name), "%s", name);
	puts("ok");
}

static void load_and_attach(char *name, const char *kind, const char *func, int value)
{
	static const struct {
		const char		*name;
		enum bpf_attach_type	type;
		__u32			flags;
	} kinds[] = {
		{ "fentry", BPF_TRACE_FENTRY, 0 },
		{ "fentry.s", BPF_TRACE_FENTRY, BPF_F_SLEEPABLE },
		{ "fexit", BPF_TRACE_FEXIT, 0 },
		{ "fmod_ret", BPF_MODIFY_RETURN, 0 },
	};
	struct program *p = find("");
	int err = -EINVAL;
	unsigned int i;

	for (i = 0; p && i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, kind))
			err = load(p, kinds[i].type, kinds[i].flags, func, value);
	}
	if (err >= 0)
		err = attach(p);
	finish(p, name, err);
}

static void seen(struct program *p)
{
	struct seen seen, none = { 0 };
	int zero = 0, i;

	if (bpf_map_lookup_elem(p->map, &zero, &seen) ||
	    bpf_map_update_elem(p->map, &zero, &none, 0)) {
		puts("no map");
		return;
	}
	printf("%llu", seen.calls);
	for (i = 0; seen.calls && i < p->nr_words; i++) {
		int unused = 64 - 8 * p->size[i];

		printf(" %lld", (long long)(seen.word[i] << unused) >> unused);
	}
	putchar('\n');
}

static void run(const struct program *p)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int err = bpf_prog_test_run_opts(p->prog, &opts);

	if (err)
		puts(strerror(-err));
	else
		printf("%u\n", opts.retval);
}

/* As libbpf does it: the perf event is on one CPU, the program runs on all. */
static int attach_event(struct program *p, int id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
	};
	struct bpf_insn insn[MAX_INSNS];

	if (create_map(p) < 0)
		return p->map;
	p->prog = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, "seen", "GPL", insn,
				build(insn, p, 0), NULL);
	if (p->prog < 0)
		return p->prog;
	p->link = syscall(__NR_perf_event_open, &attr, -1, 0, -1, 0);
	if (p->link < 0 || ioctl(p->link, PERF_EVENT_IOC_SET_BPF, p->prog) ||
	    ioctl(p->link, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return 0;
}

static void event(char *name, int id, int offset, int size)
{
	struct program *p = find("");
	int err = -EINVAL;

	if (p) {
		p->offset = offset;
		p->size[0] = size;
		p->nr_words = 1;
		err = attach_event(p, id);
	}
	finish(p, name, err);
}

static void of(const struct program *p)
{
	static const char * const types[] = {
		[BPF_FD_TYPE_TRACEPOINT] = "tracepoint",
		[BPF_FD_TYPE_KPROBE] = "kprobe",
	};
	__u64 offset, addr;
	__u32 prog, type;
	char name[64];
	__u32 len = sizeof(name);
	int err = bpf_task_fd_query(getpid(), p->link, 0, name, &len, &prog, &type, &offset,
				    &addr);

	if (err)
		puts(strerror(-err));
	else
		printf("%s %s\n", type < ARRAY_SIZE(types) && types[type] ? types[type] :
		       "another", name);
}

/* The names of @functions are between spaces. */
static void cost(char *functions)
{
	unsigned long long start, attached, end;
	const char *func;
	int nr = 0, i;

	for (func = strtok(functions, "\n "); func; func = strtok(NULL, "\n ")) {
		if (nr == MAX_PROGRAMS || load(&programs[nr++], BPF_TRACE_FENTRY, 0, func, 0) < 0) {
			printf("cannot load for %s\n", func);
			goto out;
		}
	}

	start = __rdtsc();
	for (i = 0; i < nr; i++) {
		if (attach(&programs[i]) < 0) {
			puts("cannot attach");
			goto out;
		}
	}
	attached = __rdtsc();
	for (i = 0; i < nr; i++) {
		close(programs[i].link);
		programs[i].link = 0;
	}
	end = __rdtsc();
	printf("%llu %llu\n", attached - start, end - attached);
out:
	for (i = 0; i < nr; i++)
		unload(&programs[i]);
}

static void result(long ret)
{
	printf("%ld\n", ret < 0 ? -errno : ret);
}

static void command(char *line, int file)
{
	char verb[16] = "", name[16] = "", kind[16] = "", func[64] = "";
	struct program *p;
	int value = 0;

	if (!strncmp(line, "cost ", 5)) {
		cost(line + 5);
		return;
	}
	if (sscanf(line, "%15s %15s %15s %63s %i", verb, name, kind, func, &value) < 1)
		return;
	p = find(name);
	if (!strcmp(verb, "attach") && *func && !p) {
		load_and_attach(name, kind, func, value);
	} else if (!strcmp(verb, "event") && *func && !p) {
		event(name, atoi(kind), atoi(func), value);
	} else if (!strcmp(verb, "lseek")) {
		result(lseek(file, strtol(name, NULL, 0), SEEK_SET));
	} else if (!strcmp(verb, "ioctl")) {
		result(ioctl(file, strtoul(name, NULL, 0), strtoul(kind, NULL, 0)));
	} else if (!strcmp(verb, "file")) {
		printf("%d\n", file);
	} else if (!*name || !p) {
		puts("what?");
	} else if (!strcmp(verb, "detach")) {
		unload(p);
		puts("ok");
	} else if (!strcmp(verb, "of")) {
		of(p);
	} else if (!strcmp(verb, "seen")) {
		seen(p);
	} else if (!strcmp(verb, "run")) {
		run(p);
	} else {
		puts("what?");
	}
}

/*
 * A BPF program does not run on a processor where a preempted task is already in it. The shell
 * that gives the commands also calls the traced functions, as ioctl() when it reads an answer.
 * If this process never preempts the shell, it never misses a call of its own.
 */
static int never_preempt_the_parent(void)
{
	struct sched_param none = { 0 }, lowest = { .sched_priority = 1 };

	return sched_setscheduler(0, SCHED_OTHER, &none) ?:
		sched_setscheduler(getppid(), SCHED_FIFO, &lowest);
}

int main(void)
{
	int file = memfd_create("file", 0);
	char line[4096];

	if (file < 0) {
		perror("memfd_create");
		return 1;
	}
	if (never_preempt_the_parent()) {
		perror("sched_setscheduler");
		return 1;
	}
	libbpf_set_print(NULL);
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		perror("BTF");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin))
		command(line, file);
	return 0;
}
