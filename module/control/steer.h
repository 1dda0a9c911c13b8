/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to a recording while it runs. */
#ifndef FKT_STEER_H
#define FKT_STEER_H

#include <linux/types.h>

#include <fkt/ioctl.h>

struct file;
struct fkt_recording;

int fkt_steer_mask(struct fkt_recording *rec, struct file *file, u64 set, u64 clear);
int fkt_steer_wait_ready(struct fkt_recording *rec);
int fkt_steer_free(struct fkt_recording *rec, struct file *file);
int fkt_steer_set_pow(struct fkt_recording *rec, struct file *file, u32 pow);
int fkt_steer_set_dma(struct fkt_recording *rec, struct file *file, u32 low);
int fkt_steer_join(struct fkt_recording *rec, struct file *file);
int fkt_steer_flight(struct fkt_recording *rec, struct file *file, enum fkt_flight_step step);
int fkt_steer_fired(struct fkt_recording *rec, struct file *file, struct fkt_fired *fired);

#endif /* FKT_STEER_H */
