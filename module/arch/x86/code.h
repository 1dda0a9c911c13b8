/* SPDX-License-Identifier: GPL-2.0-only */
/* How functions of the kernel begin, and where calls of programs return to. */
#ifndef FKT_CODE_H
#define FKT_CODE_H

#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/*
 * The function saves every register that it changes: its callers, in the middle of any code, do not. A function without
 * this that it calls has it save all.
 */
#define FKT_SAVES_REGISTERS __no_caller_saved_registers

/* Of a traced function's nop, behind the ENDBR if there is one. */
#define FKT_CALLS_NOP_BYTES 5
#define FKT_ENDBR_BYTES 4

#define FKT_LEAST_ADDRESS 0x10000 /* nothing is mapped below it (vm.mmap_min_addr) */
#define FKT_CALL_BYTES 7 /* the longest call instruction */

/*
 * Whether a function of the current program may return there: behind a call, or to the code by which a signal's handler
 * returns. Registers and words of programs without frame pointers hold anything. What cannot be read here and now may
 * be code. Any context.
 */
static inline bool fkt_is_return_address(u64 address)
{
	/* mov $__NR_rt_sigreturn, %rax */
	static const u8 sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00 };
	u8 code[FKT_CALL_BYTES];
	unsigned int i;

	if (address < FKT_LEAST_ADDRESS || address >= TASK_SIZE_MAX)
		return false;
	if (copy_from_user_nofault(code, (const void __user *)(address - FKT_CALL_BYTES), sizeof(code)))
		return true;
	if (code[FKT_CALL_BYTES - 5] == 0xe8)
		return true;
	/* By a register or memory: ff /2, with up to five bytes of an address behind it. */
	for (i = 0; i + 1 < FKT_CALL_BYTES; i++) {
		if (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2)
			return true;
	}
	return !copy_from_user_nofault(code, (const void __user *)address, sizeof(code)) &&
	       !memcmp(code, sigreturn, sizeof(code));
}

#endif /* FKT_CODE_H */
