/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of a configuration of KFT that select functions, and the group that a function belongs to. */
#ifndef FKT_KFT_GROUPS_H
#define FKT_KFT_GROUPS_H

#include <linux/types.h>

#include "symbol_set.h"

struct fkt_kft_error;

const struct fkt_kft_trigger *fkt_kft_role_trigger(const struct fkt_kft_config *config, enum fkt_kft_role role);
const struct fkt_kft_function *fkt_kft_role_function(const struct fkt_kft_config *config, enum fkt_kft_role role);
int fkt_kft_end_names(struct fkt_kft_symbols *set, const char *text, u32 bytes);
int fkt_kft_make_groups(struct fkt_kft_symbols *set);
bool fkt_kft_is_function(const struct fkt_kft_symbols *set, const struct fkt_kft_function *function, const char *name,
			 const struct module *module, unsigned long address);
u16 fkt_kft_group_of(struct fkt_kft_symbols *set, const char *name, const struct module *module,
		     unsigned long address);
u32 fkt_kft_count_group(const struct fkt_kft_symbols *set, u16 group);
u32 fkt_kft_count_role(const struct fkt_kft_symbols *set, u32 role);
int fkt_kft_check_groups(const struct fkt_kft_symbols *set, const u32 *found, struct fkt_kft_error *error);

#endif /* FKT_KFT_GROUPS_H */
