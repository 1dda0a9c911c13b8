/* SPDX-License-Identifier: GPL-2.0-only */
/* Suspend and hibernation. */
#ifndef FKT_POWER_H
#define FKT_POWER_H

struct file;
struct fkt_clocks;
struct fkt_recording;

int fkt_power_init(struct fkt_recording *rec);
void fkt_power_exit(struct fkt_recording *rec);
int fkt_power_read_clocks(struct fkt_recording *rec, const struct file *file, struct fkt_clocks *clocks);

#endif /* FKT_POWER_H */
