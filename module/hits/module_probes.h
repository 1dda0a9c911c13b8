/* SPDX-License-Identifier: GPL-2.0-only */
/* Records hits of other modules' probes (include/fkt/probe.h). */
#ifndef FKT_MODULE_PROBES_H
#define FKT_MODULE_PROBES_H

#include <linux/types.h>

struct file;
struct fkt_point_table;
struct fkt_probe_list;

int fkt_record_module_probes_arm(const struct fkt_point_table *table);
void fkt_record_module_probes_disarm(const struct fkt_point_table *table);
void fkt_record_module_probes_end(void);
long fkt_module_probes_give(const struct file *file, struct fkt_probe_list __user *arg);

#endif /* FKT_MODULE_PROBES_H */
