/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of functions of user programs that have begun and not returned, by thread. */
#ifndef FKT_USER_CALLS_H
#define FKT_USER_CALLS_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct fkt_user_stack;
struct fkt_user_table;

struct fkt_user_call {
	u64 probe; /* id of its struct fkt_user_probe (user_probe.h) */
	u64 sp; /* address of the return address */
	u64 begin; /* full stamp */
	u64 mark; /* of the programs that were asked at the entry (struct fkt_user_slot) */
	u32 flags; /* FKT_OPEN_* */
	u32 kept; /* where the words are that the first program has emitted */
};

#define FKT_OPEN_DROPPED 0x1 /* its hit was counted at the entry: its return is no hit */
#define FKT_OPEN_CUT 0x2 /* a text that was kept was cut */

/* On while programs make the kernel's own system calls for uprobes, which are not recorded. */
DECLARE_STATIC_KEY_FALSE(fkt_key_user_calls);

int fkt_user_calls_make(const struct fkt_user_table *users);
void fkt_user_calls_free(void);

bool fkt_user_calls_room(void);
struct fkt_user_stack *fkt_user_calls_enter(unsigned long sp);
struct fkt_user_call *fkt_user_calls_push(struct fkt_user_stack *stack, u64 probe, unsigned long sp, u32 words);
void fkt_user_calls_unseen(struct fkt_user_stack *stack, u64 probe, unsigned long sp);
struct fkt_user_stack *fkt_user_calls_return(unsigned long sp);
struct fkt_user_call *fkt_user_calls_find(struct fkt_user_stack *stack, u64 probe, unsigned long sp);
void fkt_user_calls_remove(struct fkt_user_stack *stack, struct fkt_user_call *call);
u64 *fkt_user_calls_kept(struct fkt_user_stack *stack, const struct fkt_user_call *call);

bool fkt_user_calls_hide(long nr);
bool fkt_user_calls_hid(void);

#endif /* FKT_USER_CALLS_H */
