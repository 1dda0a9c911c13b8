// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the code of a detour (splices/detour.h). A register or the flags are taken for free only if the replaced
 * instruction writes them without reading them.
 *
 * Any instruction can be the target of a jump, and a task may be interrupted before any. So the jump takes the place of
 * one instruction alone, and no CPU ever executes a part of what was there (the kernel patches it so, through a
 * breakpoint that it handles itself).
 */

#include <linux/build_bug.h>
#include <linux/string.h>
#include <linux/types.h>

#include <fkt/code_rules.h>

#include "splices/detour.h"

#define AX 0

static void put(struct fkt_detour *detour, const void *bytes, unsigned int count)
{
	memcpy(detour->code + detour->code_bytes, bytes, count);
	detour->code_bytes += count;
}

#define PUT(detour, ...)                                                      \
	do {                                                                  \
		const u8 put_bytes[] = { __VA_ARGS__ };                       \
		put(detour, put_bytes, sizeof(put_bytes));                    \
	} while (0)

static void put_stack(struct fkt_detour *detour, unsigned int pushed, bool is_behind)
{
	detour->stack[detour->stacks++] = (struct fkt_detour_stack){
		.offset = detour->code_bytes, .pushed = pushed, .is_behind = is_behind,
	};
}

/* Sets *distance from `from` to `to`. Returns whether it fits an operand. */
static bool distance_fits(unsigned long from, unsigned long to, s32 *distance)
{
	*distance = (s32)(to - from);
	return (long)(to - from) == *distance;
}

/* Counts if the mask's bit is set: 4 instructions, which change the flags and the register. */
static bool put_counter(struct fkt_detour *detour, unsigned long place, u64 count, const u64 *mask,
			u32 layer, unsigned int reg)
{
	const u8 high = reg >> 3, low = reg & 7;
	s32 distance;

	/* testb $bit, mask(%rip) */
	if (!distance_fits(place + detour->code_bytes + 7, (unsigned long)mask + layer / 8, &distance))
		return false;
	PUT(detour, 0xf6, 0x05);
	put(detour, &distance, sizeof(distance));
	PUT(detour, 1 << layer % 8);
	detour->skips = detour->code_bytes;
	/* je over the next two; movabs $count, %reg; incq %gs:(%reg): a CPU changes only its own, at one stroke */
	PUT(detour, 0x74, 14, 0x48 | high, 0xb8 | low);
	put(detour, &count, sizeof(count));
	PUT(detour, 0x65, 0x48 | high, 0xff, low);
	return true;
}

/* Puts the instruction, which will be at another address than it was. */
static bool put_original(struct fkt_detour *detour, const struct fkt_code *code, unsigned long address,
			 unsigned long place)
{
	u8 *const copy = detour->code + detour->code_bytes;
	s32 distance;

	put(detour, detour->original, code->length);
	if (!code->distance_at)
		return true;
	memcpy(&distance, copy + code->distance_at, sizeof(distance));
	if (!distance_fits(place + detour->code_bytes, address + code->length + distance, &distance))
		return false;
	memcpy(copy + code->distance_at, &distance, sizeof(distance));
	return true;
}

/* Puts what every detour ends with: the instruction and the jump back. */
static int put_rest(struct fkt_detour *detour, const struct fkt_code *code, unsigned long address, unsigned long place)
{
	s32 distance;

	if (!put_original(detour, code, address, place))
		return -EINVAL;
	put_stack(detour, 0, true);
	if (!distance_fits(place + detour->code_bytes + FKT_JUMP_BYTES, address + detour->length, &distance))
		return -EINVAL;
	PUT(detour, 0xe9); /* jmp back */
	put(detour, &distance, sizeof(distance));
	return 0;
}

static void begin(struct fkt_detour *detour, const struct fkt_code *code, const u8 *original)
{
	*detour = (struct fkt_detour){ .length = code->length };
	memcpy(detour->original, original, code->length);
	put_stack(detour, 0, false);
}

/*
 * Sets *detour to the code, at `place`, that counts the instruction at the address, whose bytes are `original`, if the
 * bit of the layer is set in the mask. count: offset of a per-CPU variable. Returns 0, or -EINVAL if a distance is too
 * far.
 */
int fkt_detour_make(struct fkt_detour *detour, const struct fkt_code *code, const u8 *original, unsigned long address,
		    unsigned long place, u64 count, const u64 *mask, u32 layer)
{
	const u32 freed = fkt_code_freed_register(code);
	const bool saves_register = freed == FKT_CODE_NO_REGISTER, saves_flags = !fkt_code_frees_flags(code);

	BUILD_BUG_ON(4 + 7 + 2 + 14 + FKT_LONGEST_INSTRUCTION + FKT_JUMP_BYTES > FKT_COUNTER_BYTES);
	begin(detour, code, original);
	if (saves_register) {
		PUT(detour, 0x50); /* push %rax */
		put_stack(detour, 8, false);
	}
	if (saves_flags) {
		PUT(detour, 0x9c); /* pushfq */
		put_stack(detour, saves_register ? 16 : 8, false);
	}
	if (!put_counter(detour, place, count, mask, layer, saves_register ? AX : freed))
		return -EINVAL;
	if (saves_flags) {
		PUT(detour, 0x9d); /* popfq */
		put_stack(detour, saves_register ? 8 : 0, false);
	}
	if (saves_register) {
		PUT(detour, 0x58); /* pop %rax */
		put_stack(detour, 0, false);
	}
	return put_rest(detour, code, address, place);
}

/*
 * As fkt_detour_make(), but the code calls the function with the address as its argument. The function saves all
 * registers; above its return address it finds rdi and, if `how` says so, the flags. how: FKT_CALL_*.
 */
int fkt_detour_make_call(struct fkt_detour *detour, const struct fkt_code *code, const u8 *original,
			 unsigned long address, unsigned long place, const void *function, u32 how)
{
	const bool saves_flags = how || !fkt_code_frees_flags(code);
	const s32 argument = address;
	s32 distance;

	BUILD_BUG_ON(4 + 3 + 7 + FKT_JUMP_BYTES + FKT_LONGEST_INSTRUCTION + FKT_JUMP_BYTES > FKT_COUNTER_BYTES);
	begin(detour, code, original);
	if (saves_flags) {
		PUT(detour, 0x9c); /* pushfq */
		put_stack(detour, 8, false);
	}
	PUT(detour, 0x57); /* push %rdi */
	put_stack(detour, saves_flags ? 16 : 8, false);
	if (how & FKT_CALL_CLOSES_ACCESS)
		PUT(detour, 0x0f, 0x01, 0xca); /* clac */
	/* mov $address, %rdi: 32 bits and their sign */
	if ((long)address != argument)
		return -EINVAL;
	PUT(detour, 0x48, 0xc7, 0xc7);
	put(detour, &argument, sizeof(argument));
	detour->calls = detour->code_bytes;
	if (!distance_fits(place + detour->code_bytes + FKT_JUMP_BYTES, (unsigned long)function, &distance))
		return -EINVAL;
	PUT(detour, 0xe8); /* call */
	put(detour, &distance, sizeof(distance));
	PUT(detour, 0x5f); /* pop %rdi */
	put_stack(detour, saves_flags ? 8 : 0, false);
	if (saves_flags) {
		PUT(detour, 0x9d); /* popfq */
		put_stack(detour, 0, false);
	}
	return put_rest(detour, code, address, place);
}

/*
 * As fkt_detour_make(), but the code sets the byte `mark` to 1, whenever it is executed: by one instruction, which
 * needs no register and leaves the flags alone.
 */
int fkt_detour_make_marker(struct fkt_detour *detour, const struct fkt_code *code, const u8 *original,
			   unsigned long address, unsigned long place, const u8 *mark)
{
	s32 distance;

	BUILD_BUG_ON(7 + FKT_LONGEST_INSTRUCTION + FKT_JUMP_BYTES > FKT_MARKER_BYTES);
	begin(detour, code, original);
	/* movb $1, mark(%rip) */
	if (!distance_fits(place + 7, (unsigned long)mark, &distance))
		return -EINVAL;
	PUT(detour, 0xc6, 0x05);
	put(detour, &distance, sizeof(distance));
	PUT(detour, 1);
	return put_rest(detour, code, address, place);
}

/* Sets `code` to a jump of FKT_JUMP_BYTES at the address to `place`, which is in the pool. */
void fkt_detour_jump(u8 *code, unsigned long address, unsigned long place)
{
	const s32 distance = place - (address + FKT_JUMP_BYTES);

	code[0] = 0xe9;
	memcpy(code + 1, &distance, sizeof(distance));
}
