/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the functions in stacks. They are looked up soon after the stack was taken, because its modules may be
 * unloaded while the log is kept.
 */
#ifndef FKT_KFT_NAMES_H
#define FKT_KFT_NAMES_H

#include <linux/types.h>

#define FKT_KFT_NAME_CHAINS 1024

struct fkt_kft_names {
	char *text; /* the names; before each, the place of the next one in its chain (u32) */
	u32 bytes, room;
	u32 first[FKT_KFT_NAME_CHAINS]; /* places of names; 0: none */
	/* Addresses that were looked up since fkt_kft_names_refresh(), and the places of their names; 0: none. */
	struct {
		u64 address;
		u32 name;
	} known[FKT_KFT_NAME_CHAINS];
};

void fkt_kft_names_refresh(struct fkt_kft_names *names);
u32 fkt_kft_names_add(struct fkt_kft_names *names, const char *name);
u32 fkt_kft_names_of(struct fkt_kft_names *names, u64 address);
const char *fkt_kft_names_at(const struct fkt_kft_names *names, u32 place);

#endif /* FKT_KFT_NAMES_H */
