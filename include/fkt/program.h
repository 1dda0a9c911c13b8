/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Programs that decide whether a hit of an instrument is kept, and fetch the words of its event. They
 * come from user space; the kernel verifies them with fkt_program_verify() (program_verify.h) and runs
 * them with fkt_program_run() (program_run.h).
 *
 * A hit is an array of words: arguments, registers, what was measured. Which word is what depends on the
 * kind of place.
 *
 * A program is one block of memory: struct fkt_program, its instructions, its texts. Each instruction
 * takes one operand and does one operation with it:
 *
 *   1. operand    where it is: enum fkt_from
 *   2. offset     `offset` is added to it
 *   3. load       if `load` is not 0, the operand is an address: that many bytes of memory replace it
 *   4. narrow     if `right` is not 0: operand << left, then >> right (arithmetic shift with
 *                 FKT_HOW_SIGNED): sign extension, truncation and bit fields
 *   5. operation  `op`
 *
 * Steps 2 to 4 are done only with FKT_HOW_FETCH. An instruction whose `how` is 0, an operation on a word
 * of the hit, is the fastest.
 *
 * The order is postfix: FKT_OP_PUSH pushes the operand, FKT_FROM_POP pops it, and FKT_OP_ADD and the
 * others of its kind replace the top of the stack. A test or a match that does not hold continues at
 * `target`, which is always a later instruction, so a run executes each instruction once at most. A hit
 * is kept if the run comes to the end, and dropped if it comes to FKT_TARGET_DROP.
 *
 * A test with constants asks whether the operand is in a range: operand - value <= span, unsigned. That
 * is every comparison with a constant, signed or not, at the price of one: x == 5 is value 5, span 0;
 * x != 5 is value 6, span ~1; x > 64, signed, is value 65, span 0x7fffffffffffffff - 65.
 */
#ifndef FKT_PROGRAM_H
#define FKT_PROGRAM_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/stddef.h>
#else
#include <stddef.h>
#endif

#include <fkt/wire.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define FKT_PROGRAM_INSNS 128
#define FKT_PROGRAM_TEXTS 8
#define FKT_PROGRAM_TEXT_BYTES 32 /* of a pattern, including the terminating zero */
#define FKT_PROGRAM_DEPTH 8 /* of the stack */
#define FKT_PROGRAM_WORDS 64 /* that a program can emit */
#define FKT_PROGRAM_STRING_BYTES 256 /* of one emitted string */
#define FKT_PROGRAM_MATCH_BYTES 64 /* of a string that is matched, including the terminating zero */
#define FKT_PROGRAM_MATCHES 8 /* in one program: the slowest operation */

/* Where an operand is. */
enum fkt_from {
	FKT_FROM_WORD = 0, /* word `index` of the hit */
	FKT_FROM_CONST = 1, /* `value` */
	FKT_FROM_POP = 2, /* the top of the stack, which is removed */
	FKT_FROM_CONTEXT = 3, /* enum fkt_context: `index`; its parameter: `size` */
	FKT_FROM_RECORD = 4, /* as FKT_FROM_WORD, and the word is the address of the tracepoint's own record */
	FKT_FROMS = 5,
};

/* fkt_insn.how: enum fkt_from and these. */
#define FKT_HOW_FROM 7 /* mask of enum fkt_from */
#define FKT_HOW_FETCH 8 /* `offset`, `load`, `left` and `right` are used; without it they are 0 */
#define FKT_HOW_SIGNED 16 /* the narrowing shift to the right is arithmetic */
#define FKT_HOW_ALL 31

/* Values that are computed only if a program asks for them. */
enum fkt_context {
	FKT_CONTEXT_PID = 0, /* process (tgid) */
	FKT_CONTEXT_TID = 1,
	FKT_CONTEXT_UID = 2, /* effective user id */
	FKT_CONTEXT_CPU = 3,
	FKT_CONTEXT_LEVEL = 4, /* enum fkt_level */
	FKT_CONTEXT_SINCE_START = 5, /* ticks since the recording's start, or the hit that began it */
	/*
	 * bytes between the end of the task's stack and its stack pointer when the function was entered, or at the
	 * instruction, or where a tracepoint calls its probes; all bits set on another stack
	 */
	FKT_CONTEXT_STACK_LEFT = 6,
	FKT_CONTEXT_FLAG = 7, /* 1 if the flag with the parameter's number is set, else 0 */
	FKT_CONTEXT_CHANCE = 8, /* random number from 0 to parameter - 1 */
	FKT_CONTEXT_TASK = 9, /* address of the current thread's name */
	FKT_CONTEXT_CGROUP = 10, /* id of the current thread's cgroup (v2) */
	/* inode number of the file that a word of the hit leads to, which is named in the trace: FKT_FILE_PARAMETER */
	FKT_CONTEXT_FILE = 11,
	FKT_CONTEXT_TASK_FLAG = 12, /* 1 if the current thread's flag with the parameter's number is set, else 0 */
	/*
	 * The smallest FKT_CONTEXT_STACK_LEFT of the recording's earlier hits whose program read this context and kept
	 * them; all bits set: none. 0 for functions that are called to handle another hit. CPUs that read it at the
	 * same time may get the same value.
	 */
	FKT_CONTEXT_LOWEST_STACK = 13,
	FKT_CONTEXTS = 14,
};

/* Type of the structure that the word points to. */
enum fkt_file_of {
	FKT_FILE_OF_FILE = 0, /* struct file */
	FKT_FILE_OF_PATH = 1, /* struct path */
	FKT_FILE_OF_DENTRY = 2, /* struct dentry */
	FKT_FILE_OF_INODE = 3, /* struct inode */
	FKT_FILE_OF_MAPPING = 4, /* struct address_space */
	FKT_FILE_OF_IOCB = 5, /* struct kiocb */
	FKT_FILE_OF_FAULT = 6, /* struct vm_fault */
	FKT_FILE_OF_READAHEAD = 7, /* struct readahead_control */
	FKT_FILE_OF_BIO = 8, /* struct bio: the file that its first page is a page of */
	FKT_FILE_OF_REQUEST = 9, /* struct request: that of its first bio */
	FKT_FILE_OF_MAPPED = 10, /* struct vm_area_struct */
	FKT_FILES_OF = 11,
};

#define FKT_FILE_PARAMETER(word, of) ((of) << 8 | (word))
#define FKT_FILE_WORD(parameter) ((parameter) & 0xff)
#define FKT_FILE_OF(parameter) ((parameter) >> 8)

#define FKT_PROGRAM_FLAGS 64 /* flag numbers are below */
#define FKT_TASK_FLAGS 8 /* flags of each thread */

enum fkt_level {
	FKT_LEVEL_TASK = 0,
	FKT_LEVEL_SOFTIRQ = 1,
	FKT_LEVEL_IRQ = 2,
	FKT_LEVEL_NMI = 3,
};

enum fkt_op {
	FKT_OP_TEST = 0, /* continues at `target` unless the operand is in the range */
	FKT_OP_EMIT = 1, /* the operand as one word */
	FKT_OP_PUSH = 2,
	FKT_OP_TEST_BITS = 3, /* continues at `target` unless operand & value is not 0 */
	FKT_OP_TEST_POP = 4, /* pops after the operand; continues at `target` unless `operand compare popped` */
	FKT_OP_MATCH = 5, /* continues at `target` unless the string at the operand fits text[value] */
	FKT_OP_JUMP = 6, /* continues at `target` */
	FKT_OP_EMIT_STRING = 7, /* the string at the operand, in size / 8 words padded with zeros */
	/* size / 8 words of the hit, from `index` on; or of the tracepoint's own record, from `offset` on */
	FKT_OP_EMIT_WORDS = 8,
	/* top of the stack = top of the stack OP operand */
	FKT_OP_ADD = 9,
	FKT_OP_SUB = 10,
	FKT_OP_MUL = 11,
	FKT_OP_DIV = 12, /* unsigned; 0 if the operand is 0 */
	FKT_OP_MOD = 13, /* unsigned; 0 if the operand is 0 */
	FKT_OP_AND = 14,
	FKT_OP_OR = 15,
	FKT_OP_XOR = 16,
	FKT_OP_SHL = 17, /* by the operand's low 6 bits */
	FKT_OP_SHR = 18, /* by the operand's low 6 bits */
	FKT_OPS = 19,
};

/* Comparisons of FKT_OP_TEST_POP. */
enum fkt_compare {
	FKT_COMPARE_EQ = 0,
	FKT_COMPARE_NE = 1,
	FKT_COMPARE_LT = 2, /* signed, as the next */
	FKT_COMPARE_LE = 3,
	FKT_COMPARE_BELOW = 4, /* unsigned, as the next */
	FKT_COMPARE_BELOW_EQ = 5,
	FKT_COMPARES = 6,
};

/* fkt_insn.flags */
#define FKT_INSN_NOT 1 /* FKT_OP_TEST_BITS, FKT_OP_MATCH: continues at `target` if it does hold */
#define FKT_INSN_TAIL 2 /* FKT_OP_EMIT_STRING: only as many words as the string needs; emitted last */

#define FKT_TARGET_DROP 0xffff

struct fkt_insn {
	__u8 op; /* enum fkt_op */
	__u8 how; /* enum fkt_from and FKT_HOW_* */
	__u8 index; /* of the hit's word; enum fkt_context for FKT_FROM_CONTEXT */
	__u8 flags;
	__u8 load; /* 0, 1, 2, 4 or 8 bytes */
	__u8 left; /* at most `right` */
	__u8 right; /* at most 63 */
	__u8 compare; /* enum fkt_compare */
	__s32 offset;
	__u16 target; /* number of a later instruction, fkt_program.insns, or FKT_TARGET_DROP */
	__u16 size; /* bytes of a string, a multiple of 8; parameter of FKT_FROM_CONTEXT */
	__u64 value; /* the constant; of a test; the text's number */
	__u64 span; /* of FKT_OP_TEST */
};

struct fkt_program {
	__u16 insns;
	__u16 texts;
	__u16 words; /* that a run emits at most */
	__u16 zero;
	struct fkt_insn insn[]; /* then char text[texts][FKT_PROGRAM_TEXT_BYTES] */
};

FKT_LAYOUT(sizeof(struct fkt_insn) == 32);
FKT_LAYOUT(offsetof(struct fkt_program, insn) == 8);

#define FKT_PROGRAM_BYTES(insns, texts) \
	(sizeof(struct fkt_program) + (insns) * sizeof(struct fkt_insn) + (texts) * FKT_PROGRAM_TEXT_BYTES)
#define FKT_PROGRAM_MAX_BYTES FKT_PROGRAM_BYTES(FKT_PROGRAM_INSNS, FKT_PROGRAM_TEXTS)

static __always_inline const char *fkt_program_text(const struct fkt_program *program, __u32 index)
{
	return (const char *)&program->insn[program->insns] + index * FKT_PROGRAM_TEXT_BYTES;
}

/* What a hit of a place has, so what a program for it may use. */
struct fkt_program_rules {
	__u64 words; /* bit n: the hit has word n */
	__u32 record_bytes; /* of a tracepoint's own record that are always there; 0: it has none */
	__u8 record; /* number of the word that is the record's address */
	__u8 emits; /* words that may be emitted */
	__u16 contexts; /* bit n: FKT_CONTEXT n may be used */
	/* Bit n: word n is a text's address, which FKT_OP_MATCH may use and, without `memory`, nothing else. */
	__u64 texts;
	/* 1: any memory may be read, also by addresses that the program computes: for openers that may see all. */
	__u8 memory;
};

#define FKT_RULES_NONE { 0, 0, 0, 0, 0, 0, 0 }

#define FKT_HIT_WORDS 64 /* at most */

enum fkt_verdict {
	FKT_VERDICT_GOOD = 0,
	FKT_VERDICT_SIZE, /* the block's size and its head contradict each other */
	FKT_VERDICT_TEXT, /* a text is not terminated; at: its number */
	/* These have the instruction's number in `at`. */
	FKT_VERDICT_OP, /* no such operation */
	FKT_VERDICT_OPERAND, /* no such source, or the place does not have it */
	FKT_VERDICT_LOAD, /* not 0, 1, 2, 4 or 8 bytes, or beyond the record */
	FKT_VERDICT_NARROW, /* shifts that are too wide */
	FKT_VERDICT_FLAGS, /* what the operation does not have, or FKT_HOW_FETCH is missing */
	FKT_VERDICT_COMPARE, /* no such comparison */
	FKT_VERDICT_TARGET, /* neither a later instruction nor an end */
	FKT_VERDICT_VALUE, /* a text's number or a parameter is out of range */
	FKT_VERDICT_STRING, /* a string's size is no multiple of 8, 0 or too large */
	FKT_VERDICT_UNDERFLOW, /* pops from an empty stack */
	FKT_VERDICT_OVERFLOW, /* the stack is too deep */
	FKT_VERDICT_JOIN, /* paths meet with different depths or numbers of emitted words */
	FKT_VERDICT_UNREACHED, /* no path leads here */
	FKT_VERDICT_WORDS, /* emits more words than the head or the place allows */
	FKT_VERDICT_AFTER_TAIL, /* emits after a string of variable length */
	FKT_VERDICT_MATCHES, /* too many matches */
	FKT_VERDICT_DEPTH, /* ends with words on the stack */
	FKT_VERDICT_MEMORY, /* reads memory, or uses an address, that the place does not allow */
	FKT_VERDICTS,
};

struct fkt_program_verdict {
	__u32 verdict; /* enum fkt_verdict */
	__u32 at;
};

#endif /* FKT_PROGRAM_H */
