/* SPDX-License-Identifier: GPL-2.0-only */
/* FKT_STATUS, FKT_CPU_STATUS and FKT_INDEX. */
#ifndef FKT_STATUS_H
#define FKT_STATUS_H

struct file;
struct fkt_recording;
struct fkt_cpu_status;
struct fkt_index;
struct fkt_status;

void fkt_status(struct fkt_recording *rec, const struct file *file, struct fkt_status *status);
int fkt_cpu_status(struct fkt_recording *rec, struct fkt_cpu_status *status);
int fkt_status_index(struct fkt_recording *rec, const struct file *file, const struct fkt_index *request);

#endif /* FKT_STATUS_H */
