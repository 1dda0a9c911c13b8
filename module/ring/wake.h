/* SPDX-License-Identifier: GPL-2.0-only */
/* Wakes the drain thread. */
#ifndef FKT_WAKE_H
#define FKT_WAKE_H

#include <linux/rcuwait.h>
#include <linux/types.h>

struct fkt_waker {
	struct rcuwait wait; /* the thread's; can be woken where spinlocks must not be taken */
	bool kicked; /* the thread must look at the rings; cleared by it */
	bool all; /* ... and write all complete pages, however few; set before `kicked`, cleared by it */
};

extern struct fkt_waker fkt_waker;

void fkt_wake_init(void);
void fkt_kick(void);
void fkt_kick_for_batches(void);
void fkt_wake_soon(void);
void fkt_wake_sync(unsigned int cpu);

#endif /* FKT_WAKE_H */
