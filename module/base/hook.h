/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hook is a place in the kernel where a probe can be attached. Each file in events/ has a table of
 * hooks; attach.c switches them with the mask.
 */
#ifndef FKT_HOOK_H
#define FKT_HOOK_H

#include <linux/kprobes.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

struct fkt_hook {
	const char *name; /* of the tracepoint or function, or the text for the log */
	void *probe; /* tracepoints: the probe function */
	kprobe_pre_handler_t handler; /* kprobes on the function `name`: called at its entry */
	int (*on)(void); /* other hooks: switches it on */
	void (*off)(void);
	u64 layers; /* on while one of these layers is recorded */
	bool (*needed)(void); /* ... and only while this returns true; NULL: no further condition */
	const char *shows; /* what cannot be recorded on a kernel that does not have it; NULL: the tracepoint `name` */
	bool (*also)(void); /* also on while this returns true, independently of the layers; NULL: never */
	/* used by attach.c only */
	struct tracepoint *tracepoint;
	struct kprobe kprobe;
	u64 missed; /* calls of the function in this recording that the kprobe did not see */
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
extern const struct fkt_hook_table fkt_vector_hooks;
extern const struct fkt_hook_table fkt_process_hooks;
extern const struct fkt_hook_table fkt_user_hooks;
extern const struct fkt_hook_table fkt_warning_hooks;
extern const struct fkt_hook_table fkt_trigger_hooks;

#define FKT_HOOK_TABLE(name, array) \
	const struct fkt_hook_table name = { .hooks = array, .count = ARRAY_SIZE(array) }

/* A probe on a tracepoint that all supported kernels have. */
#define FKT_ON_TRACEPOINT(tp, fn, layer)                                      \
	{ .name = #tp, .probe = (fn), .layers = 1ULL << FKT_L_##layer }

/* A probe at the entry of a function. */
#define FKT_ON_FUNCTION(function, fn, layer, text)                            \
	.name = #function, .handler = (fn), .layers = 1ULL << FKT_L_##layer,  \
	.shows = (text)

#endif /* FKT_HOOK_H */
