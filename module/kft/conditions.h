/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs that decide what a configuration of KFT keeps. */
#ifndef FKT_KFT_CONDITIONS_H
#define FKT_KFT_CONDITIONS_H

#include <linux/types.h>

struct fkt_kft_config;

#define FKT_KFT_PROGRAM_BYTES 1536 /* room for one */

#define FKT_KFT_RUNS 0 /* flag: with autorepeat, a run of the recording goes on */
#define FKT_KFT_INSIDE 0 /* flag of the task: it is in the function of `filter caller` */

u64 fkt_kft_ticks(u64 ns);
u32 fkt_kft_write_nothing(void *at);
u32 fkt_kft_write_condition(void *at, const struct fkt_kft_config *config, const char *text, u64 mintime);
u32 fkt_kft_write_watch(void *at, const struct fkt_kft_config *config);
bool fkt_kft_needs_trampoline(const struct fkt_kft_config *config);

#endif /* FKT_KFT_CONDITIONS_H */
