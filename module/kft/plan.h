/* SPDX-License-Identifier: GPL-2.0-only */
/* The plan of a configuration of KFT: a table of instruments, as FKT_START takes it. */
#ifndef FKT_KFT_PLAN_H
#define FKT_KFT_PLAN_H

#include <linux/kref.h>
#include <linux/types.h>

#include <fkt/ioctl.h>
#include <fkt/kft_rules.h>

#include "conditions.h"
#include "symbols.h"

#define FKT_KFT_LENGTH 20000 /* unless the configuration says it */
#define FKT_KFT_LENGTH_MOST (1U << 20)

/* The plan's instruments; those that the configuration does not use have no functions. */
enum fkt_kft_instrument {
	FKT_KFT_CALLS, /* records calls, or entries and exits */
	FKT_KFT_BEGINS, /* a hit begins the recording, or with autorepeat each run of it */
	FKT_KFT_ENDS, /* a hit ends it */
	FKT_KFT_ENTERS, /* the function of `filter caller` is entered */
	FKT_KFT_LEAVES,
	FKT_KFT_WATCHES, /* records the stacks of `watch` */
	FKT_KFT_PRIMES, /* a hit primes the recording */
	FKT_KFT_INSTRUMENTS,
};

#define FKT_KFT_WATCHED (1U << 23) /* bit in the function's number in events of FKT_KFT_WATCHES */

struct fkt_kft_plan {
	struct kref refs;
	char *text; /* of the configuration, with a zero behind it */
	u32 bytes;
	struct fkt_kft_config *config;
	struct fkt_kft_symbols symbols; /* a call's number is that of its symbol */
	u32 recorded; /* functions whose calls are recorded */
	u32 by_probe; /* those of them with a return probe */
	u32 logentries;
	/* Arguments of FKT_START. */
	struct fkt_instruments given;
	struct fkt_instrument instruments[FKT_KFT_INSTRUMENTS];
	struct fkt_calls calls, entries;
	struct fkt_called *called, *entered;
	void *call_programs, *entry_programs;
	struct fkt_kft_needs needs[FKT_KFT_ROLES]; /* of the conditions of triggers */
	bool asks_task; /* a program uses words measured for the task */
};

struct fkt_kft_plan *fkt_kft_plan_make(const char *text, u32 bytes, struct fkt_kft_error *error);
void fkt_kft_plan_put(struct fkt_kft_plan *plan);
bool fkt_kft_plan_is_of_modules(const struct fkt_kft_plan *plan);

static inline struct fkt_kft_plan *fkt_kft_plan_get(struct fkt_kft_plan *plan)
{
	kref_get(&plan->refs);
	return plan;
}

/* Returns whether nothing is recorded until a hit, or until a time. */
static inline bool fkt_kft_plan_waits(const struct fkt_kft_plan *plan)
{
	return plan->config->start.moment != FKT_KFT_NEVER;
}

static inline bool fkt_kft_plan_repeats(const struct fkt_kft_plan *plan)
{
	return fkt_kft_says(plan->config, FKT_KFT_AUTOREPEAT);
}

#endif /* FKT_KFT_PLAN_H */
