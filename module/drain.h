/* SPDX-License-Identifier: GPL-2.0-only */
/* The life cycle of the drain thread. */
#ifndef FKT_DRAIN_H
#define FKT_DRAIN_H

#include <linux/types.h>

#include <fkt/ioctl.h>

struct file;

int fkt_drain_start(const struct file *owner, const struct fkt_start *start, struct file *out);
void fkt_drain_finish(void);
int fkt_drain_wait(void);
void fkt_drain_join(void);
bool fkt_drain_ended(void);
void fkt_drain_stop(void);
void fkt_drain_introduce(void);
void fkt_drain_release(void);
void fkt_drain_inherit(void);
void fkt_drain_truncate(void);
bool fkt_drain_park(void);
int fkt_drain_wait_parked(long limit);
void fkt_drain_unpark(void);
void fkt_drain_status(struct fkt_status *status);

#endif /* FKT_DRAIN_H */
