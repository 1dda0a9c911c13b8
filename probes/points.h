/* SPDX-License-Identifier: GPL-2.0-only */
/* Records hits of tracepoints. */
#ifndef FKT_PROBES_POINTS_H
#define FKT_PROBES_POINTS_H

struct fkt_point_table;

int fkt_record_points_begin(struct fkt_point_table *table);
void fkt_record_points_end(void);
void fkt_record_points_free(void);

#endif /* FKT_PROBES_POINTS_H */
