/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hook is one place of the kernel where a probe can be put. Each file in probes/ has a table of
 * them; attach.c switches them with the mask.
 */
#ifndef FKT_ATTACH_H
#define FKT_ATTACH_H

#include <linux/kprobes.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

struct fkt_hook {
	const char *name; /* of the tracepoint, or what the log calls it */
	void *probe; /* tracepoints: what runs there */
	kprobe_pre_handler_t handler; /* functions named `name`: what runs at their begin */
	int (*on)(void); /* others: how to switch it */
	void (*off)(void);
	u64 layers; /* is on while one of these is */
	bool (*needed)(void); /* ... and only while this is true; NULL: always */
	u64 missing; /* what status.missing says when this kernel does not have it */
	bool (*also)(void); /* is on while this is true, too, whatever the layers; NULL: never */
	/* attach.c's own */
	struct tracepoint *tracepoint;
	struct kprobe kprobe;
	u64 missed; /* calls of the function that the kprobe did not see, before it was last switched on */
	bool attached;
	bool absent;
};

struct fkt_hook_table {
	struct fkt_hook *hooks;
	unsigned int count;
};

extern const struct fkt_hook_table fkt_syscall_hooks;
extern const struct fkt_hook_table fkt_trap_hooks;
extern const struct fkt_hook_table fkt_interrupt_hooks;
extern const struct fkt_hook_table fkt_process_hooks;
extern const struct fkt_hook_table fkt_warning_hooks;
extern const struct fkt_hook_table fkt_condition_hooks;

#define FKT_HOOK_TABLE(name, array) \
	const struct fkt_hook_table name = { .hooks = array, .count = ARRAY_SIZE(array) }

/* A probe on a tracepoint that both kernels have. */
#define FKT_ON_TRACEPOINT(tp, fn, layer)                                      \
	{                                                                     \
		.name = #tp, .probe = (fn), .layers = 1ULL << FKT_L_##layer,  \
		.missing = FKT_MISSING_TRACEPOINT,                            \
	}

/* A probe at the begin of a function. */
#define FKT_ON_FUNCTION(function, fn, layer, bit)                             \
	.name = #function, .handler = (fn), .layers = 1ULL << FKT_L_##layer,  \
	.missing = FKT_MISSING_##bit

#endif /* FKT_ATTACH_H */
