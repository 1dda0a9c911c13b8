// SPDX-License-Identifier: GPL-2.0-only
/* Programs of instruments as user space gives them (program_block.h). */

#include <linux/once.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include <fkt/program.h>
#include <fkt/program_verify.h>

#include "program_block.h"

/*
 * Verifies the program at `offset` of the block, adds its size to `offset`, and returns it; NULL if it is not valid.
 * User space must not be able to change the block: what was verified must stay true. check: scratch memory.
 */
const struct fkt_program *fkt_program_take(const void *block, size_t bytes, size_t *offset,
					   const struct fkt_program_rules *rules, struct fkt_program_check *check)
{
	const struct fkt_program *program = block + *offset;
	size_t size;

	if (bytes - *offset < sizeof(*program))
		return NULL;
	size = FKT_PROGRAM_BYTES((size_t)program->insns, (size_t)program->texts);
	if (size > bytes - *offset || fkt_program_verify(program, size, rules, check).verdict != FKT_VERDICT_GOOD)
		return NULL;
	*offset += size;
	return program;
}

/*
 * Returns the mark of these programs: equal ones have equal marks, and the lowest bit is 0. A call keeps the mark, so
 * that the words that it keeps are never given to other programs, even if another table is in force at its return.
 */
u64 fkt_program_mark(const void *programs, size_t bytes)
{
	static siphash_key_t key __read_mostly;

	get_random_once(&key, sizeof(key));
	return siphash(programs, bytes, &key) & ~1ULL;
}
