// SPDX-License-Identifier: GPL-2.0-only
/*
 * fentry FUNCTION attaches a BPF program to the entry of a kernel function, by a direct call. Prints "attached"; then,
 * for each line on stdin, how often the program ran; detaches at the end of stdin. kernel.bpf_stats_enabled must be 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel_types.h"

static void die(const char *what)
{
	fprintf(stderr, "fentry: %s: %s\n", what, strerror(errno));
	exit(1);
}

static __u32 id_of(const char *types, const char *function)
{
	const struct btf_header *h = (const void *)types;
	const char *const names = types + h->hdr_len + h->str_off;
	const struct btf_type *type = (const void *)(types + h->hdr_len + h->type_off);
	const void *const end = (const char *)type + h->type_len;
	__u32 id;

	for (id = 1; (const void *)type < end; id++, type = next_type(type)) {
		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC && !strcmp(names + type->name_off, function))
			return id;
	}
	errno = ENOENT;
	die(function);
	return 0;
}

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A program that returns 0. */
static int load(__u32 function)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACING, .expected_attach_type = BPF_TRACE_FENTRY,
		.attach_btf_id = function, .insns = (unsigned long)insns, .insn_cnt = 2,
		.license = (unsigned long)"GPL",
	};
	const int program = bpf(BPF_PROG_LOAD, &attr);

	if (program < 0)
		die("loading the program");
	return program;
}

static int attach(int program)
{
	union bpf_attr attr = { .raw_tracepoint = { .prog_fd = (__u32)program } };
	const int link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);

	if (link < 0)
		die("attaching the program");
	return link;
}

static unsigned long long runs_of(int program)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = {
		.info = { .bpf_fd = (__u32)program, .info_len = sizeof(info), .info = (unsigned long)&info },
	};

	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		die("the program's counts");
	return info.run_cnt;
}

int main(int argc, char **argv)
{
	char line[16], *types;
	int program;

	if (argc != 2) {
		fputs("usage: fentry FUNCTION\n", stderr);
		return 2;
	}
	types = read_kernel_types();
	program = load(id_of(types, argv[1]));
	free(types);
	attach(program);
	setlinebuf(stdout);
	puts("attached");
	while (fgets(line, sizeof(line), stdin))
		printf("%llu\n", runs_of(program));
	return 0;
}
