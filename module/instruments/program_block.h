/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs of instruments as user space gives them: one behind the other in a block of memory. */
#ifndef FKT_PROGRAM_BLOCK_H
#define FKT_PROGRAM_BLOCK_H

#include <linux/types.h>

struct fkt_program;
struct fkt_program_check;
struct fkt_program_rules;

u64 fkt_program_mark(const void *programs, size_t bytes);
const struct fkt_program *fkt_program_take(const void *block, size_t bytes, size_t *offset,
					   const struct fkt_program_rules *rules, struct fkt_program_check *check);

#endif /* FKT_PROGRAM_BLOCK_H */
