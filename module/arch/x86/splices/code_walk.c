// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which instructions there are in the kernel's text, and which may be replaced. User space is trusted with nothing but
 * the address: the whole function is decoded here.
 */

#include <linux/bitmap.h>
#include <linux/extable.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <asm/insn.h>

#include <fkt/code_rules.h>

#include "arch/arch.h"
#include "arch/kernel_names.h"
#include "base/compat.h"
#include "splices/code_walk.h"

/* ---- functions of the kernel that are not exported ---- */

DEFINE_STATIC_CALL_RET0(fkt_splices_decode, insn_decode);
DEFINE_STATIC_CALL_RET0(fkt_splices_size, kallsyms_lookup_size_offset);
DEFINE_STATIC_CALL_RET0(fkt_splices_kprobe, get_kprobe);
DEFINE_STATIC_CALL_RET0(fkt_splices_exception, search_exception_tables);
DEFINE_STATIC_CALL_RET0(fkt_splices_location, ftrace_location);
DEFINE_STATIC_CALL_RET0(fkt_splices_blacklist, within_kprobe_blacklist);

/* lookup: finds functions of the kernel. Returns 0 or -ENOENT: it lacks one. */
int fkt_code_walk_init(void *(*lookup)(const char *name))
{
	if (!fkt_set_call(fkt_splices_decode, lookup("insn_decode")) ||
	    !fkt_set_call(fkt_splices_size, lookup("kallsyms_lookup_size_offset")) ||
	    !fkt_set_call(fkt_splices_kprobe, lookup("get_kprobe")) ||
	    !fkt_set_call(fkt_splices_exception, lookup("search_exception_tables")) ||
	    !fkt_set_call(fkt_splices_location, lookup("ftrace_location")) ||
	    !fkt_set_call(fkt_splices_blacklist, lookup("within_kprobe_blacklist")))
		return -ENOENT;
	return 0;
}

/* ---- which instructions there are ---- */

#define MOST_BYTES 0x10000 /* of a function */

/* Of the function that a walk is in: the offsets where instructions begin. Protected by kprobe_mutex. */
static DECLARE_BITMAP(starts, MOST_BYTES);

static bool decode(struct insn *insn, unsigned long address, unsigned long end)
{
	const unsigned long most = min_t(unsigned long, end - address, FKT_LONGEST_INSTRUCTION);

	return !static_call(fkt_splices_decode)(insn, (const void *)address, most, INSN_MODE_KERN);
}

static unsigned int prefixes_of(const struct insn *insn)
{
	unsigned int prefixes = insn->rex_prefix.nbytes > 1 ? FKT_PREFIX_OTHER : 0, i;

	/* The decoder keeps no more than four different ones. */
	for (i = 0; i < insn->prefixes.nbytes && i < 4; i++) {
		switch (insn->prefixes.bytes[i]) {
		case 0x66:
			prefixes |= FKT_PREFIX_16_BITS;
			break;
		case 0x65:
			prefixes |= FKT_PREFIX_GS;
			break;
		case 0xf3:
			prefixes |= FKT_PREFIX_F3;
			break;
		default:
			prefixes |= FKT_PREFIX_OTHER;
		}
	}
	return prefixes;
}

/* As fkt_code.distance_at; -1: it is a distance of fewer bits. */
static int distance_at(struct insn *insn, u32 opcode)
{
	if (opcode >= 0x0f80 && opcode <= 0x0f8f)
		return insn->immediate.nbytes == 4 ? insn_offset_immediate(insn) : -1;
	/* Only such an operand in memory is at a distance. */
	if (insn->modrm.nbytes && (insn->modrm.value & 0xc7) == 5)
		return insn->displacement.nbytes == 4 ? insn_offset_displacement(insn) : -1;
	return 0;
}

/* Returns the instruction's parts, by which it is decided. */
static struct fkt_code code_of(struct insn *insn)
{
	const u8 *opcode = insn->opcode.bytes;
	struct fkt_code code = {
		.opcode = opcode[0],
		.modrm = insn->modrm.value,
		.sib = insn->sib.value,
		.has_sib = insn->sib.nbytes != 0,
		.rex = insn->rex_prefix.value,
		.prefixes = prefixes_of(insn),
		.length = insn->length,
	};
	int distance;

	if (insn->opcode.nbytes == 2 && opcode[0] == 0x0f)
		code.opcode = 0x0f00 | opcode[1];
	else if (insn->opcode.nbytes != 1)
		code.opcode = FKT_OPCODE_OTHER;
	distance = distance_at(insn, code.opcode);
	if (insn->vex_prefix.nbytes || distance < 0)
		code.opcode = FKT_OPCODE_OTHER;
	else
		code.distance_at = distance;
	return code;
}

/*
 * Whether the function can be decoded to its end, and may be changed at all; sets `starts`. Where a kprobe is, other
 * code is shown. Caller must hold kprobe_mutex.
 */
static bool is_good_function(struct fkt_code_walk *walk)
{
	const unsigned long begin = walk->begin, end = walk->end;
	struct fkt_code code;
	struct insn insn;
	unsigned long at;

	if (end - begin > MOST_BYTES || !static_call(fkt_splices_location)(begin) ||
	    static_call(fkt_splices_blacklist)(begin))
		return false;
	bitmap_zero(starts, end - begin);
	for (at = begin; at < end; at += insn.length) {
		if (static_call(fkt_splices_kprobe)((void *)at) || !decode(&insn, at, end))
			return false;
		code = code_of(&insn);
		if (fkt_code_is_unsafe(&code))
			return false;
		__set_bit(at - begin, starts);
		walk->opens_access |= code.opcode == 0x0f01 && code.modrm == 0xcb; /* stac */
		cond_resched();
	}
	return at == end;
}

/* Walks on to the address. Returns whether an instruction begins there that may be changed. */
static bool walk_to(struct fkt_code_walk *walk, unsigned long address)
{
	if (address < walk->begin || address >= walk->end) {
		unsigned long size, offset;

		if (!static_call(fkt_splices_size)(address, &size, &offset))
			return false;
		walk->begin = address - offset;
		walk->end = walk->begin + size;
		walk->opens_access = false;
		walk->is_good = is_good_function(walk);
	}
	return walk->is_good && test_bit(address - walk->begin, starts);
}

/*
 * Sets *code to the instruction at the address. walk: zero before the first call; addresses must ascend. Returns
 * whether one begins there that may be replaced by a jump. Caller must hold kprobe_mutex.
 */
bool fkt_code_may_be_replaced(struct fkt_code_walk *walk, unsigned long address, struct fkt_code *code)
{
	struct insn insn;

	if (!walk_to(walk, address) || !decode(&insn, address, walk->end))
		return false;
	*code = code_of(&insn);
	return code->length >= FKT_JUMP_BYTES && fkt_code_moves(code) && !static_call(fkt_splices_exception)(address);
}
