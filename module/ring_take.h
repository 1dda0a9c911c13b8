/* SPDX-License-Identifier: GPL-2.0-only */
/* What the drain side takes from the rings. */
#ifndef FKT_RING_TAKE_H
#define FKT_RING_TAKE_H

#include <linux/types.h>

struct fkt_page;

void fkt_ring_fill(unsigned int cpu, u32 *filled, u32 *free);
bool fkt_ring_short(unsigned int cpu);
void fkt_ring_overwrite(unsigned int cpu);
struct fkt_page *fkt_ring_collect(unsigned int cpu);
bool fkt_ring_has_complete(unsigned int cpu);
u64 fkt_ring_events(unsigned int cpu);

#endif /* FKT_RING_TAKE_H */
