/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs that decide what a configuration of KFT keeps. */
#ifndef FKT_KFT_CONDITIONS_H
#define FKT_KFT_CONDITIONS_H

#include <linux/types.h>

struct fkt_kft_config;
struct fkt_kft_error;
struct fkt_kft_symbol;
struct fkt_kft_trigger;

#define FKT_KFT_PROGRAM_BYTES 1536 /* room for one */

#define FKT_KFT_RUNS 0 /* flag: with autorepeat, a run of the recording goes on */
#define FKT_KFT_INSIDE 0 /* flag of the task: it is in the function of `filter caller` */

/* Requirements of a trigger's condition besides its program. */
struct fkt_kft_needs {
	u64 shortest; /* ticks: the condition is false for shorter calls */
	bool of_task; /* the condition uses words that return probes do not have */
};

u32 fkt_kft_write_nothing(void *at);
u32 fkt_kft_write_limits(void *at, const struct fkt_kft_config *config, const char *text, u64 mintime);
u32 fkt_kft_write_watch(void *at, const struct fkt_kft_config *config);
u32 fkt_kft_write_trigger(void *at, const char *text, const struct fkt_kft_trigger *trigger,
			  const struct fkt_kft_symbol *symbol, struct fkt_kft_needs *needs,
			  struct fkt_kft_error *error);

#endif /* FKT_KFT_CONDITIONS_H */
