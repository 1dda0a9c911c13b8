/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_FUZZ_KERNEL_H
#define FKT_FUZZ_KERNEL_H

#include <linux/types.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)
#define max(a, b) ((a) > (b) ? (a) : (b))

/* Writes "-ENOENT", as the kernel's "%pe", or the number if the error has no name. The format is this one. */
int scnprintf(char *text, size_t size, const char *format, const void *error);
int kstrtoull(const char *text, unsigned int base, u64 *number);

#endif /* FKT_FUZZ_KERNEL_H */
