// SPDX-License-Identifier: GPL-2.0
/*
 * fail_nth N write FILE TEXT
 * fail_nth N append FILE TEXT
 * fail_nth N read FILE
 * fail_nth N mkdir DIRECTORY
 * fail_nth N rmdir DIRECTORY
 * fail_nth N load MODULE.ko
 * fail_nth N unload MODULE
 * fail_nth N perf EVENT [FILTER]
 * fail_nth N bpf FUNCTION
 *
 * Does that with the N'th allocation of memory failing; with N- all from that on fail, if
 * the attributes of fault injection say so for tasks that are to fail. With 0, none fails.
 *
 * The EVENT is the number in a tracing event's file `id`: it is opened as perf does it, with the
 * filter, and closed again. A BPF program is attached to the FUNCTION's entry; it has been loaded
 * before, and is detached when nothing fails any more.
 *
 * Prints "failed" if there were so many, else "none": there is no further one to try. Then
 * the error, 0 if there was none. The exit code is 0 also if what is done ends with an
 * error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int wrong_arguments(void)
{
	fprintf(stderr, "usage: fail_nth N[-] write|append FILE TEXT\n");
	fprintf(stderr, "       fail_nth N[-] read|mkdir|rmdir|load|unload WHAT\n");
	fprintf(stderr, "       fail_nth N[-] perf EVENT [FILTER]\n");
	fprintf(stderr, "       fail_nth N[-] bpf FUNCTION\n");
	return 2;
}

/* What a shell's redirection does; some files act as they are closed. */
static int put(const char *file, int flags, const char *text)
{
	int fd = open(file, O_WRONLY | flags), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	if (close(fd) && !err)
		err = errno;
	return err;
}

static int get(const char *file)
{
	static char buf[65536];
	int fd = open(file, O_RDONLY), err = 0;
	ssize_t n;

	if (fd < 0)
		return errno;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		;
	if (n < 0)
		err = errno;
	close(fd);
	return err;
}

static int load(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		err = errno;
	close(fd);
	return err;
}

static int unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? errno : 0;
}

static int make_dir(const char *dir)
{
	return mkdir(dir, 0755) ? errno : 0;
}

static int remove_dir(const char *dir)
{
	return rmdir(dir) ? errno : 0;
}

/* For this task, wherever it runs */
static int open_event(const char *id, const char *filter)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = atoi(id),
		.sample_period = 1,
		/* An event of functions cannot have them. */
		.exclude_callchain_user = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		err = errno;
	close(fd);
	return err;
}

/* What follows a type, in bytes */
static unsigned int size_behind(const struct btf_type *type)
{
	const unsigned int n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
		return sizeof(__u32);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	default:
		return 0;
	}
}

/* The number of a function's type: those of all types are from 1 on. 0: there is none. */
static int find_type(const char *btf, const char *func)
{
	const struct btf_header *header = (const void *)btf;
	const char *types = btf + header->hdr_len + header->type_off;
	const char *strings = btf + header->hdr_len + header->str_off;
	const char *at = types;

	for (int id = 1; at < types + header->type_len; id++) {
		const struct btf_type *type = (const void *)at;

		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    !strcmp(strings + type->name_off, func))
			return id;
		at += sizeof(*type) + size_behind(type);
	}
	return 0;
}

/* A program that does nothing, to be attached to a function's entry */
static int load_program(const char *func)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = BPF_TRACE_FENTRY,
		.insns = (unsigned long)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (unsigned long)"GPL",
	};
	FILE *file = fopen("/sys/kernel/btf/vmlinux", "r");
	struct stat st;
	char *btf;
	int fd;

	if (!file || fstat(fileno(file), &st))
		die("BTF");
	btf = malloc(st.st_size);
	if (!btf || fread(btf, st.st_size, 1, file) != 1)
		die("BTF");
	attr.attach_btf_id = find_type(btf, func);
	free(btf);
	fclose(file);
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		die(func);
	return fd;
}

/* It is attached until this program ends. */
static int attach_program(int fd)
{
	union bpf_attr attr = { .raw_tracepoint.prog_fd = fd };

	return syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr)) < 0 ? errno : 0;
}

static const struct {
	const char	*name;
	int		(*func)(const char *what);
} commands[] = {
	{ "read",	get },
	{ "mkdir",	make_dir },
	{ "rmdir",	remove_dir },
	{ "load",	load },
	{ "unload",	unload },
};

#define NR_COMMANDS	ARRAY_SIZE(commands)

static int open_own(const char *file)
{
	int fd = open(file, O_RDWR);

	if (fd < 0)
		die(file);
	return fd;
}

static void set_own(int fd, const char *value)
{
	if (pwrite(fd, value, strlen(value), 0) < 0)
		die("fail_nth");
}

int main(int argc, char **argv)
{
	char line[4096], left[16] = "", nth[16];
	int nth_fd, all_fd, prog_fd = -1, err;
	unsigned int i = 0;

	if (argc < 4)
		return wrong_arguments();
	snprintf(nth, sizeof(nth), "%d", atoi(argv[1]));
	if (!strcmp(argv[2], "write") || !strcmp(argv[2], "append")) {
		if (argc != 5)
			return wrong_arguments();
		snprintf(line, sizeof(line), "%s\n", argv[4]);
	} else if (!strcmp(argv[2], "perf")) {
		if (argc > 5)
			return wrong_arguments();
	} else if (!strcmp(argv[2], "bpf")) {
		if (argc != 4)
			return wrong_arguments();
		prog_fd = load_program(argv[3]);
	} else {
		while (i < NR_COMMANDS && strcmp(commands[i].name, argv[2]))
			i++;
		if (i == NR_COMMANDS || argc != 4)
			return wrong_arguments();
	}

	/* If its own memory could not be had, it would try that again for ever. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("mlockall");
		return 1;
	}
	nth_fd = open_own("/proc/thread-self/fail-nth");
	all_fd = open_own("/proc/thread-self/make-it-fail");
	if (strchr(argv[1], '-'))
		set_own(all_fd, "1");
	set_own(nth_fd, nth);

	if (!strcmp(argv[2], "write"))
		err = put(argv[3], O_TRUNC, line);
	else if (!strcmp(argv[2], "append"))
		err = put(argv[3], O_APPEND, line);
	else if (!strcmp(argv[2], "perf"))
		err = open_event(argv[3], argv[4]);
	else if (prog_fd >= 0)
		err = attach_program(prog_fd);
	else
		err = commands[i].func(argv[3]);

	/* What is left of the count is more than 0 if none has failed. */
	set_own(all_fd, "0");
	if (pread(nth_fd, left, sizeof(left) - 1, 0) < 0) {
		perror("fail-nth");
		return 1;
	}
	set_own(nth_fd, "0");
	printf("%s %d\n", atoi(left) || !atoi(nth) ? "none" : "failed", err);
	return 0;
}
