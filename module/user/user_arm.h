/* SPDX-License-Identifier: GPL-2.0-only */
/* Records what user programs do, at places of theirs. */
#ifndef FKT_USER_ARM_H
#define FKT_USER_ARM_H

#include <linux/types.h>

struct fkt_user_table;

int fkt_record_users_arm(struct fkt_user_table *table, u64 *refused);
void fkt_record_users_disarm(const struct fkt_user_table *table);
void fkt_record_users_end(void);
bool fkt_record_users_armed(void);

#endif /* FKT_USER_ARM_H */
