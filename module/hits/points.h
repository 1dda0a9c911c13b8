/* SPDX-License-Identifier: GPL-2.0-only */
/* Records hits of tracepoints. */
#ifndef FKT_POINTS_H
#define FKT_POINTS_H

#include <linux/types.h>

struct fkt_point_slot;
struct fkt_point_table;

void fkt_point_hit(const struct fkt_point_slot *slot, const u64 *arguments, unsigned long stack);
int fkt_record_points_arm(struct fkt_point_table *table);
void fkt_record_points_disarm(const struct fkt_point_table *table);
void fkt_record_points_end(void);

#endif /* FKT_POINTS_H */
