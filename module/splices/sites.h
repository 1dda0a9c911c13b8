/* SPDX-License-Identifier: GPL-2.0-only */
/* Sites: instructions of the kernel and its modules that are replaced by jumps to detours. */
#ifndef FKT_SITES_H
#define FKT_SITES_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include "detour.h"

struct fkt_site {
	unsigned long address;
	const void *owner; /* NULL: fkt.ko */
	/* What hits do: one of both; both NULL: they mark their byte of fkt_marks. */
	const u64 __percpu *count;
	const void *function; /* called with the address */
	bool takes_registers; /* the function looks at them */
	bool closes_access; /* FKT_CALL_CLOSES_ACCESS */
	const u64 *mask; /* with `count` */
	u32 layer; /* as above */
	struct fkt_site *before; /* has this address, and is armed until this one is; NULL: none */
	unsigned int index; /* for the owner */
	unsigned int number; /* of its detour in the pool */
	u8 skips, calls; /* as in struct fkt_detour */
	bool is_armed;
	bool is_stuck; /* a kprobe keeps it from being disarmed: it has a reference to this module */
	struct fkt_code code; /* of the instruction */
	u8 original[FKT_LONGEST_INSTRUCTION + 1];
	struct fkt_hidden *hidden;
	struct rb_node node; /* by address */
	struct list_head gone;
};

/* Protects all below, and what the owners know of their sites. Taken under the recording's lock. */
extern struct mutex fkt_sites_lock;

extern struct rb_root fkt_sites;

/*
 * By number of the detour. Set to 1 by hits, in any context, without the lock: each is a byte of its own. 0 again
 * when nothing is in the detour any more.
 */
extern u8 fkt_marks[FKT_MARKERS];
/* The sites that mark them; NULL: none. */
extern struct fkt_site *fkt_marking[FKT_MARKERS];

int fkt_sites_init(void);
void fkt_sites_exit(void);

struct fkt_site *fkt_site_find(unsigned long address);
struct fkt_site *fkt_site_make(unsigned long address, struct fkt_site *before);
void fkt_site_drop(struct fkt_site *site);
void fkt_sites_arm(struct fkt_site **sites, unsigned int count);
void fkt_sites_disarm(struct list_head *gone, bool ignores_kprobes);
void fkt_sites_wait(void);

#endif /* FKT_SITES_H */
