/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_TESTS_DESCRIBED_H
#define FKT_TESTS_DESCRIBED_H

#include <linux/types.h>

/* Returns first + 203, which described_twin() of this file computes. */
u64 described_many(u64 first);

#endif /* FKT_TESTS_DESCRIBED_H */
