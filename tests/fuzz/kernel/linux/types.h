/* SPDX-License-Identifier: GPL-2.0-only */
/* What module/kft/conditions.c uses of the kernel, for a process: tests/fuzz/kft_condition_fuzz.cc compiles it so. */
#ifndef FKT_FUZZ_TYPES_H
#define FKT_FUZZ_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define U16_MAX ((u16)~0U)
#define U64_MAX (~0ULL)

#endif /* FKT_FUZZ_TYPES_H */
