/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Single instructions without a LOCK prefix: an interrupt comes before or after one. For memory that one CPU changes,
 * or one task.
 */
#ifndef FKT_ONE_INSTRUCTION_H
#define FKT_ONE_INSTRUCTION_H

#include <linux/types.h>

static __always_inline void fkt_add_at_once(u64 *number, u64 more)
{
	if (__builtin_constant_p(more) && more == 1)
		asm volatile("incq %0" : "+m"(*number));
	else
		asm volatile("addq %1, %0" : "+m"(*number) : "r"(more));
}

static __always_inline void fkt_set_at_once(u8 *byte, u8 bits)
{
	asm volatile("orb %[bits], %[byte]" : [byte] "+m"(*byte) : [bits] "q"(bits));
}

static __always_inline void fkt_clear_at_once(u8 *byte, u8 bits)
{
	asm volatile("andb %[bits], %[byte]" : [byte] "+m"(*byte) : [bits] "q"((u8)~bits));
}

/* Returns whether bit `bit` of the word is set, and reads only its byte. bit: a constant. */
static __always_inline bool fkt_test_at_once(const u64 *word, unsigned int bit)
{
	bool is_set;

	asm volatile("testb %[bits], %[byte]"
		     : "=@ccnz"(is_set)
		     : [byte] "m"(((const u8 *)word)[bit / 8]), [bits] "i"(1 << bit % 8));
	return is_set;
}

#endif /* FKT_ONE_INSTRUCTION_H */
