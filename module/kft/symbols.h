/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the kernel's functions that a configuration of KFT names. */
#ifndef FKT_KFT_SYMBOLS_H
#define FKT_KFT_SYMBOLS_H

#include <linux/types.h>

#include "symbol_set.h"

struct fkt_kft_error;

int fkt_kft_symbols_find(struct fkt_kft_symbols *set, const struct fkt_kft_config *config, const char *text,
			 u32 bytes, struct fkt_kft_error *error);
void fkt_kft_symbols_free(struct fkt_kft_symbols *set);

#endif /* FKT_KFT_SYMBOLS_H */
