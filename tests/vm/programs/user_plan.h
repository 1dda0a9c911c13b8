/* SPDX-License-Identifier: GPL-2.0-only */
/* A sound plan of two places in the test program itself, which must lie on a file system of a disk. */
#ifndef USER_PLAN_H
#define USER_PLAN_H

#include <fkt/user_hit.h>

#include "rules.h"

#define PLACES 2
#define HITS 20

/* What every test starts from, and may break. */
static struct plan {
	struct fkt_user places[PLACES];
	struct fkt_program programs[2]; /* a pair without instructions: every hit is recorded */
	struct fkt_users users;
	struct fkt_instrument instrument;
	struct fkt_instruments instruments;
	struct fkt_start start;
} plan;

static int self; /* descriptor of this program's file; set by main() */
extern const char __executable_start[];

/* These are the places. */
static __attribute__((noipa, noinline)) void first(void)
{
	__asm__ volatile("");
}

static __attribute__((noipa, noinline)) void second(void)
{
	__asm__ volatile("");
}

static inline __u64 offset_of(void (*function)(void))
{
	return (unsigned long)function - (unsigned long)__executable_start;
}

static inline void make_sound(void)
{
	memset(&plan, 0, sizeof(plan));
	plan.places[0] = (struct fkt_user){ .offset = offset_of(first), .file = self, .number = 0 };
	plan.places[1] = (struct fkt_user){ .offset = offset_of(second), .file = self, .number = 1 };
	plan.users = (struct fkt_users){
		.places = (unsigned long)plan.places, .count = PLACES, .programs = (unsigned long)plan.programs,
		.program_bytes = sizeof(plan.programs), .program_count = 1,
	};
	plan.instrument = (struct fkt_instrument){ .action = FKT_ACTION_RECORD, .layer = FKT_L_INSTRUMENTS };
	plan.instruments = (struct fkt_instruments){
		.instruments = (unsigned long)&plan.instrument, .count = 1, .users = (unsigned long)&plan.users,
	};
	plan.start = (struct fkt_start){
		.abi = FKT_ABI_VERSION, .size = sizeof(plan.start), .out_fd = -1,
		.mask = 1ULL << FKT_L_INSTRUMENTS, .recording = 0x75736572,
		.instruments = (unsigned long)&plan.instruments,
	};
}

/* Starts the plan, reaches both places, and stops. Returns 0 or FKT_START's errno; kept: hits. */
static inline int run(int device, __u64 *kept)
{
	struct fkt_hit_counts counts = { .cpu = FKT_ALL_CPUS };
	int i;

	*kept = 0;
	if (ioctl(device, FKT_START, &plan.start))
		return errno;
	for (i = 0; i < HITS; i++) {
		first();
		second();
	}
	if (ioctl(device, FKT_STOP))
		return -errno;
	ioctl(device, FKT_HIT_COUNTS, &counts);
	*kept = counts.kept;
	return 0;
}

#endif /* USER_PLAN_H */
