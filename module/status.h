/* SPDX-License-Identifier: GPL-2.0-only */
/* FKT_STATUS and FKT_CPU_STATUS. */
#ifndef FKT_STATUS_H
#define FKT_STATUS_H

struct file;
struct fkt_cpu_status;
struct fkt_status;

void fkt_status(const struct file *file, struct fkt_status *status);
int fkt_cpu_status(struct fkt_cpu_status *status);

#endif /* FKT_STATUS_H */
