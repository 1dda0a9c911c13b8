/* SPDX-License-Identifier: GPL-2.0-only */
/* The rings of all CPUs: set-up, CPU hotplug, closing of open pages. */
#ifndef FKT_RINGS_H
#define FKT_RINGS_H

#include <linux/types.h>

struct fkt_opener;

int fkt_rings_init(void);
void fkt_rings_exit(void);
void fkt_rings_configure(const struct fkt_opener *opener, u32 payer);
void fkt_rings_free(void);
int fkt_rings_start(u64 recording, bool stop_when_full);
void fkt_rings_close(void);
void fkt_rings_stop(void);
void fkt_ring_close_old(unsigned int cpu, u64 now, u64 ticks_per_s);
void fkt_rings_close_open(void);
void fkt_rings_refill(void);
void fkt_rings_overwrite(void);
void fkt_rings_pause(void);
void fkt_rings_resume(void);

#endif /* FKT_RINGS_H */
