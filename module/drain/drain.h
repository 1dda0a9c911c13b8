/* SPDX-License-Identifier: GPL-2.0-only */
/* The life cycle of the drain thread. */
#ifndef FKT_DRAIN_H
#define FKT_DRAIN_H

#include <linux/types.h>

#include <fkt/ioctl.h>

struct cred;
struct file;
struct fkt_drain;
struct fkt_recording;

int fkt_drain_start(struct fkt_recording *rec, const struct file *owner, const struct fkt_start *start,
		    struct file *out);
void fkt_drain_finish(struct fkt_recording *rec);
u32 fkt_drain_thread(const struct fkt_recording *rec);
int fkt_drain_wait(struct fkt_recording *rec, u32 thread);
void fkt_drain_join(struct fkt_recording *rec);
bool fkt_drain_ended(const struct fkt_recording *rec);
void fkt_drain_stop(struct fkt_recording *rec);
void fkt_drain_release(struct fkt_recording *rec);
const struct cred *fkt_drain_write_for_owner(const struct fkt_drain *d);
void fkt_drain_write_for_self(const struct cred *old);
void fkt_drain_truncate(struct fkt_recording *rec);
u32 fkt_drain_park(struct fkt_recording *rec);
int fkt_drain_wait_parked(struct fkt_recording *rec, u32 park, long limit);
void fkt_drain_unpark(struct fkt_recording *rec);
void fkt_drain_status(const struct fkt_recording *rec, struct fkt_status *status);

#endif /* FKT_DRAIN_H */
