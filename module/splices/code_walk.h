/* SPDX-License-Identifier: GPL-2.0-only */
/* The instructions of the kernel's functions. */
#ifndef FKT_CODE_WALK_H
#define FKT_CODE_WALK_H

#include <linux/types.h>

#include <fkt/code_rules.h>

#include "detour.h"

/* A walk through the instructions of one function after the other. */
struct fkt_code_walk {
	unsigned long begin, end; /* of the function */
	bool is_good; /* the function may be changed */
	bool opens_access; /* to user memory, for a while */
};

int fkt_code_walk_init(void *(*lookup)(const char *name));
bool fkt_code_may_be_replaced(struct fkt_code_walk *walk, unsigned long address, struct fkt_code *code);

#endif /* FKT_CODE_WALK_H */
