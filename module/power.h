/* SPDX-License-Identifier: GPL-2.0-only */
/* Suspend and hibernation. */
#ifndef FKT_POWER_H
#define FKT_POWER_H

struct file;
struct fkt_clocks;

int fkt_power_init(void);
void fkt_power_exit(void);
int fkt_power_read_clocks(const struct file *file, struct fkt_clocks *clocks);

#endif /* FKT_POWER_H */
