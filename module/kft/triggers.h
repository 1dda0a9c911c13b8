/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs for the conditions of triggers in a configuration of KFT. */
#ifndef FKT_KFT_TRIGGERS_H
#define FKT_KFT_TRIGGERS_H

#include <linux/types.h>

struct fkt_kft_error;
struct fkt_kft_symbol;
struct fkt_kft_trigger;

/* Requirements of a condition besides its program. */
struct fkt_kft_needs {
	u64 shortest; /* ticks: the condition is false for shorter calls */
	bool of_task; /* the condition uses words that return probes do not have */
};

u32 fkt_kft_write_trigger(void *at, const char *text, const struct fkt_kft_trigger *trigger,
			  const struct fkt_kft_symbol *symbol, struct fkt_kft_needs *needs,
			  struct fkt_kft_error *error);

#endif /* FKT_KFT_TRIGGERS_H */
