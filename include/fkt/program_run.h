/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Runs a verified program (program.h) at a hit of its instrument. Runs in any context: it allocates
 * nothing, takes no lock, calls nothing but `read` and `context`, and accesses memory that the program
 * names only through `read`. The kernel compiles the file that includes this without ftrace's hooks, so
 * nothing here can be traced. The stack used is about 250 bytes, and what the two functions need.
 *
 *   read     reads 1, 2, 4 or 8 bytes at any address; returns 0, or something else if it could not, and
 *            never faults (the kernel: copy_from_kernel_nofault())
 *   context  returns a FKT_CONTEXT_*
 */
#ifndef FKT_PROGRAM_RUN_H
#define FKT_PROGRAM_RUN_H

#include <fkt/program.h>
#include <fkt/text_fits.h>
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

/* Kept out of the loop, which is shorter without it: what reads strings. */
#define FKT_PROGRAM_SLOW static __attribute__((__noinline__, __unused__))

/* Where a program emits its words. */
struct fkt_emitted {
	__u64 *words; /* at least fkt_program.words of them */
	__u32 used; /* words emitted: set when the hit is kept */
	__u32 cut; /* 1: a string was longer than its place */
};

enum fkt_run {
	FKT_RUN_DROP = 0, /* the condition is false */
	FKT_RUN_KEEP = 1, /* the condition is true, and all words are emitted */
	FKT_RUN_FAULT = 2, /* memory could not be read; to be counted as missed */
};

typedef int (*fkt_read_fn)(void *to, __u64 address, __u32 bytes);
typedef __u64 (*fkt_context_fn)(const __u64 *hit, __u32 which, __u32 parameter);

/* Loads from the tracepoint's own record, which the verifier knows the size of. */
static __always_inline __u64 fkt_program_record(const void *from, __u32 bytes)
{
	__u64 v = 0;

	/* Sizes that the compiler knows make each copy one instruction; fields may be misaligned. */
	switch (bytes) {
	case 1:
		memcpy(&v, from, 1);
		break;
	case 2:
		memcpy(&v, from, 2);
		break;
	case 4:
		memcpy(&v, from, 4);
		break;
	default:
		memcpy(&v, from, 8);
		break;
	}
	return v;
}

/* Returns the number of bytes before the first zero byte among the `bytes` low ones; `bytes`: none is zero. */
static __always_inline __u32 fkt_program_before_zero(__u64 word, __u32 bytes)
{
	/* The lowest bit set is the top bit of the first zero byte; borrows only disturb later bytes. */
	const __u64 zeros = (word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL;
	__u32 first;

	if (!zeros)
		return bytes;
	first = (__u32)__builtin_ctzll(zeros) / 8;
	return first < bytes ? first : bytes;
}

/*
 * Copies the string at `address` to `words`, padded with zeros to `size` bytes (a multiple of 8).
 * Returns its length (`size`: the string is at least that long), or ~0 if memory could not be read.
 * Every read is aligned, so none crosses the end of a page: only a page that the string reaches must be
 * readable.
 */
static __always_inline __u32 fkt_program_string(__u64 *words, __u32 size, __u64 address, fkt_read_fn read)
{
	__u32 at = 0, i;

	for (i = 0; i < size / 8; i++)
		words[i] = 0;
	while (at < size) {
		__u32 step = (address + at) & 1 ? 1 : (address + at) & 2 ? 2 : (address + at) & 4 ? 4 : 8;
		__u32 bit = at % 8 * 8, length;
		__u64 piece = 0;

		while (step > size - at)
			step /= 2;
		if (read(&piece, address + at, step))
			return ~0U;
		length = fkt_program_before_zero(piece, step);
		if (length < 8)
			piece &= (1ULL << length * 8) - 1;
		words[at / 8] |= piece << bit;
		if (bit + step * 8 > 64)
			words[at / 8 + 1] |= piece >> (64 - bit);
		at += length;
		if (length < step)
			break;
	}
	return at;
}

static __always_inline int fkt_program_compares(__u64 left, __u32 compare, __u64 right)
{
	switch (compare) {
	case FKT_COMPARE_EQ:
		return left == right;
	case FKT_COMPARE_NE:
		return left != right;
	case FKT_COMPARE_LT:
		return (__s64)left < (__s64)right;
	case FKT_COMPARE_LE:
		return (__s64)left <= (__s64)right;
	case FKT_COMPARE_BELOW:
		return left < right;
	default:
		return left <= right;
	}
}

static __always_inline __u64 fkt_program_calculate(__u64 left, __u32 op, __u64 right)
{
	switch (op) {
	case FKT_OP_ADD:
		return left + right;
	case FKT_OP_SUB:
		return left - right;
	case FKT_OP_MUL:
		return left * right;
	case FKT_OP_DIV:
		return right ? left / right : 0;
	case FKT_OP_MOD:
		return right ? left % right : 0;
	case FKT_OP_AND:
		return left & right;
	case FKT_OP_OR:
		return left | right;
	case FKT_OP_XOR:
		return left ^ right;
	case FKT_OP_SHL:
		return left << (right & 63);
	default:
		return left >> (right & 63);
	}
}

/* Emits the string at `address`. Returns where the next word belongs; NULL if memory could not be read. */
FKT_PROGRAM_SLOW __u64 *fkt_program_emit_string(const struct fkt_insn *insn, struct fkt_emitted *out,
						__u64 *to, __u64 address, fkt_read_fn read)
{
	__u32 length = fkt_program_string(to, insn->size, address, read);

	if (length == ~0U)
		return NULL;
	/* A string of `size` bytes has no room for a zero, and may go on. */
	out->cut |= length == insn->size;
	return to + (insn->flags & FKT_INSN_TAIL ? (length + 7) / 8 : insn->size / 8);
}

/* Returns whether the string at `address` fits the text: 1 or 0; -1 if memory could not be read. */
FKT_PROGRAM_SLOW int fkt_program_match(const struct fkt_program *program, const struct fkt_insn *insn,
				       __u64 address, fkt_read_fn read)
{
	__u64 words[FKT_PROGRAM_MATCH_BYTES / 8];
	char *string = (char *)words;

	if (fkt_program_string(words, sizeof(words), address, read) == ~0U)
		return -1;
	string[sizeof(words) - 1] = 0;
	return fkt_text_fits(string, fkt_program_text(program, (__u32)insn->value));
}

/*
 * Offset, load and narrowing of an operand. Returns 0 if memory could not be read. is_record: the
 * verifier found that the address is within the tracepoint's own record.
 */
static __always_inline int fkt_program_fetch(const struct fkt_insn *insn, __u64 *v, int is_record,
					     fkt_read_fn read)
{
	const __u64 address = *v + (__u64)(__s64)insn->offset;

	if (!insn->load) {
		*v = address;
	} else if (is_record) {
		*v = fkt_program_record((const void *)address, insn->load);
	} else {
		*v = 0;
		if (read(v, address, insn->load))
			return 0;
	}
	if (insn->right) {
		*v <<= insn->left;
		*v = insn->how & FKT_HOW_SIGNED ? (__u64)((__s64)*v >> insn->right) : *v >> insn->right;
	}
	return 1;
}

/*
 * Runs the program. Precondition: fkt_program_verify() found it good, for rules that `hit` satisfies.
 * out->cut must be 0; after FKT_RUN_DROP and FKT_RUN_FAULT the words are not valid.
 * The operations are tested in the order of their frequency: the kernel's compilers make no jump tables
 * where indirect jumps are slow.
 */
static __always_inline enum fkt_run fkt_program_run(const struct fkt_program *program,
						    const __u64 *hit, struct fkt_emitted *out,
						    fkt_read_fn read, fkt_context_fn context)
{
	const struct fkt_insn *insn = program->insn, *const end = insn + program->insns;
	__u64 stack[FKT_PROGRAM_DEPTH];
	__u64 *to = out->words;
	__u32 depth = 0, i;
	__u64 v;

	for (; insn != end; insn++) {
		if (!insn->how) {
			v = hit[insn->index];
		} else if (insn->how == (FKT_FROM_WORD | FKT_HOW_FETCH)) {
			v = hit[insn->index];
			if (!fkt_program_fetch(insn, &v, 0, read))
				return FKT_RUN_FAULT;
		} else {
			const __u32 from = insn->how & FKT_HOW_FROM;

			if (from == FKT_FROM_POP)
				v = stack[--depth];
			else if (from == FKT_FROM_CONST)
				v = insn->value;
			else if (from == FKT_FROM_CONTEXT)
				v = context(hit, insn->index, insn->size);
			else
				v = hit[insn->index];
			if ((insn->how & FKT_HOW_FETCH) &&
			    !fkt_program_fetch(insn, &v, from == FKT_FROM_RECORD, read))
				return FKT_RUN_FAULT;
		}

		if (insn->op == FKT_OP_TEST) {
			if (v - insn->value <= insn->span)
				continue;
		} else if (insn->op == FKT_OP_EMIT) {
			*to++ = v;
			continue;
		} else if (insn->op == FKT_OP_EMIT_WORDS) {
			const char *words = (const char *)&hit[insn->index];

			if (insn->how)
				words = (const char *)hit[insn->index] + insn->offset;
			for (i = 0; i < insn->size; i += 8)
				*to++ = fkt_program_record(words + i, 8);
			continue;
		} else if (insn->op == FKT_OP_PUSH) {
			stack[depth++] = v;
			continue;
		} else if (insn->op == FKT_OP_TEST_BITS) {
			if (!(v & insn->value) == !!(insn->flags & FKT_INSN_NOT))
				continue;
		} else if (insn->op == FKT_OP_TEST_POP) {
			if (fkt_program_compares(v, insn->compare, stack[--depth]))
				continue;
		} else if (insn->op == FKT_OP_MATCH) {
			const int fits = fkt_program_match(program, insn, v, read);

			if (fits < 0)
				return FKT_RUN_FAULT;
			if (fits != !!(insn->flags & FKT_INSN_NOT))
				continue;
		} else if (insn->op == FKT_OP_EMIT_STRING) {
			to = fkt_program_emit_string(insn, out, to, v, read);
			if (!to)
				return FKT_RUN_FAULT;
			continue;
		} else if (insn->op != FKT_OP_JUMP) {
			stack[depth - 1] = fkt_program_calculate(stack[depth - 1], insn->op, v);
			continue;
		}
		if (insn->target == FKT_TARGET_DROP)
			return FKT_RUN_DROP;
		insn = &program->insn[insn->target] - 1;
	}
	out->used = to - out->words;
	return FKT_RUN_KEEP;
}

#endif /* FKT_PROGRAM_RUN_H */
