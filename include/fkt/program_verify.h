/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Verifies a program (program.h): that a run accesses nothing but what the place has, its own stack and
 * texts, and the words that it emits, whatever the values are; and that every instruction is executed once at
 * most. Accepts arbitrary bytes.
 */
#ifndef FKT_PROGRAM_VERIFY_H
#define FKT_PROGRAM_VERIFY_H

#include <fkt/program.h>

/* What is known before an instruction: the same on every path that leads there. */
struct fkt_program_state {
	__u8 reached;
	__u8 depth; /* of the stack */
	__u8 words; /* emitted at most */
	__u8 tail; /* 1: a string of variable length was emitted */
};

struct fkt_program_check {
	const struct fkt_program *program;
	const struct fkt_program_rules *rules;
	__u32 matches;
	struct fkt_program_state state[FKT_PROGRAM_INSNS + 1]; /* the last one: the end */
};

static inline int fkt_has_word(const struct fkt_program_rules *rules, __u32 index)
{
	return index < FKT_HIT_WORDS && (rules->words >> index & 1);
}

static inline enum fkt_verdict fkt_check_operand(const struct fkt_insn *insn,
						 const struct fkt_program_rules *rules)
{
	switch (insn->how & FKT_HOW_FROM) {
	case FKT_FROM_WORD:
		return fkt_has_word(rules, insn->index) ? FKT_VERDICT_GOOD : FKT_VERDICT_OPERAND;
	case FKT_FROM_CONST:
	case FKT_FROM_POP:
		return FKT_VERDICT_GOOD;
	case FKT_FROM_CONTEXT:
		if (insn->index >= FKT_CONTEXTS || !(rules->contexts >> insn->index & 1))
			return FKT_VERDICT_OPERAND;
		if (insn->index == FKT_CONTEXT_FLAG && insn->size >= FKT_PROGRAM_FLAGS)
			return FKT_VERDICT_VALUE;
		if (insn->index == FKT_CONTEXT_TASK_FLAG && insn->size >= FKT_TASK_FLAGS)
			return FKT_VERDICT_VALUE;
		if (insn->index == FKT_CONTEXT_CHANCE && !insn->size)
			return FKT_VERDICT_VALUE;
		if (insn->index == FKT_CONTEXT_FILE && (FKT_FILE_OF(insn->size) >= FKT_FILES_OF ||
							!fkt_has_word(rules, FKT_FILE_WORD(insn->size))))
			return FKT_VERDICT_VALUE;
		return FKT_VERDICT_GOOD;
	case FKT_FROM_RECORD:
		if (!insn->load || !rules->record_bytes || insn->index != rules->record ||
		    !fkt_has_word(rules, insn->index))
			return FKT_VERDICT_OPERAND;
		if (insn->offset < 0 || (__u64)insn->offset + insn->load > rules->record_bytes)
			return FKT_VERDICT_LOAD;
		return FKT_VERDICT_GOOD;
	default:
		return FKT_VERDICT_OPERAND;
	}
}

/* Checks the string's size, the number of words or the text's number. */
static inline enum fkt_verdict fkt_check_string(const struct fkt_program_check *check,
						const struct fkt_insn *insn)
{
	__u32 i;

	if (insn->op == FKT_OP_MATCH) {
		if (insn->value >= check->program->texts)
			return FKT_VERDICT_VALUE;
		return check->matches < FKT_PROGRAM_MATCHES ? FKT_VERDICT_GOOD : FKT_VERDICT_MATCHES;
	}
	if (!insn->size || insn->size % 8 || insn->size > FKT_PROGRAM_STRING_BYTES)
		return FKT_VERDICT_STRING;
	if (insn->op == FKT_OP_EMIT_STRING)
		return FKT_VERDICT_GOOD;
	if (insn->how == (FKT_FROM_RECORD | FKT_HOW_FETCH)) {
		/* The operand, which is the first one, begins in the record. */
		if (insn->load != 8 || insn->right ||
		    (__u64)insn->offset + insn->size > check->rules->record_bytes)
			return FKT_VERDICT_LOAD;
		return FKT_VERDICT_GOOD;
	}
	if (insn->how != FKT_FROM_WORD)
		return FKT_VERDICT_FLAGS;
	for (i = 1; i < insn->size / 8U; i++) /* the first one is the operand */
		if (!fkt_has_word(check->rules, insn->index + i))
			return FKT_VERDICT_OPERAND;
	return FKT_VERDICT_GOOD;
}

/* The flags that an instruction with this operation may have. */
static inline __u32 fkt_flags_of(__u32 op)
{
	switch (op) {
	case FKT_OP_EMIT_STRING:
		return FKT_INSN_TAIL;
	case FKT_OP_TEST_BITS:
	case FKT_OP_MATCH:
		return FKT_INSN_NOT;
	default:
		return 0;
	}
}

/* Whether the instruction keeps to what a place whose programs may not read all memory allows: texts are matched. */
static inline int fkt_may_read(const struct fkt_insn *insn, const struct fkt_program_rules *rules)
{
	const int is_text = (insn->how & FKT_HOW_FROM) == FKT_FROM_WORD && insn->index < FKT_HIT_WORDS &&
			    (rules->texts >> insn->index & 1);

	if (rules->memory)
		return 1;
	if (insn->op == FKT_OP_MATCH)
		return is_text && !(insn->how & FKT_HOW_FETCH);
	return !is_text && !insn->load && insn->op != FKT_OP_EMIT_STRING && insn->op != FKT_OP_EMIT_WORDS;
}

/* Checks what does not depend on the other instructions. */
static inline enum fkt_verdict fkt_check_insn(const struct fkt_program_check *check,
					      const struct fkt_insn *insn)
{
	enum fkt_verdict verdict;

	if (insn->op >= FKT_OPS)
		return FKT_VERDICT_OP;
	if (insn->load > 8 || (insn->load & (insn->load - 1)))
		return FKT_VERDICT_LOAD;
	if (insn->left > insn->right || insn->right > 63)
		return FKT_VERDICT_NARROW;
	if (!(insn->how & FKT_HOW_FETCH) && (insn->load || insn->right || insn->offset))
		return FKT_VERDICT_FLAGS;
	if ((insn->how & ~FKT_HOW_ALL) || (insn->flags & ~fkt_flags_of(insn->op)))
		return FKT_VERDICT_FLAGS;
	if (insn->compare >= FKT_COMPARES)
		return FKT_VERDICT_COMPARE;
	verdict = fkt_check_operand(insn, check->rules);
	if (verdict != FKT_VERDICT_GOOD)
		return verdict;
	if (!fkt_may_read(insn, check->rules))
		return FKT_VERDICT_MEMORY;
	if (insn->op == FKT_OP_EMIT_STRING || insn->op == FKT_OP_EMIT_WORDS || insn->op == FKT_OP_MATCH)
		return fkt_check_string(check, insn);
	return FKT_VERDICT_GOOD;
}

/* Notes that a path with this state leads to the instruction `at`, or to the end. */
static inline enum fkt_verdict fkt_check_reach(struct fkt_program_check *check, __u32 at,
					       const struct fkt_program_state *now)
{
	struct fkt_program_state *there = &check->state[at];

	if (at == check->program->insns && now->depth)
		return FKT_VERDICT_DEPTH;
	if (!there->reached) {
		*there = *now;
		return FKT_VERDICT_GOOD;
	}
	if (there->depth != now->depth || there->words != now->words || there->tail != now->tail)
		return FKT_VERDICT_JOIN;
	return FKT_VERDICT_GOOD;
}

static inline int fkt_has_target(const struct fkt_insn *insn)
{
	switch (insn->op) {
	case FKT_OP_TEST:
	case FKT_OP_TEST_BITS:
	case FKT_OP_TEST_POP:
	case FKT_OP_MATCH:
	case FKT_OP_JUMP:
		return 1;
	default:
		return 0;
	}
}

static inline enum fkt_verdict fkt_check_target(struct fkt_program_check *check, __u32 at,
						const struct fkt_program_state *now)
{
	const __u32 target = check->program->insn[at].target;

	if (target == FKT_TARGET_DROP) /* what was emitted is not used */
		return now->depth ? FKT_VERDICT_DEPTH : FKT_VERDICT_GOOD;
	if (target <= at || target > check->program->insns)
		return FKT_VERDICT_TARGET;
	return fkt_check_reach(check, target, now);
}

/* Changes the depth of the stack as the instruction does. */
static inline enum fkt_verdict fkt_check_stack(const struct fkt_insn *insn, struct fkt_program_state *now)
{
	__u32 pops = (insn->how & FKT_HOW_FROM) == FKT_FROM_POP, pushes = insn->op == FKT_OP_PUSH;

	pops += insn->op == FKT_OP_TEST_POP;
	if (insn->op >= FKT_OP_ADD) {
		pops++;
		pushes++;
	}
	if (now->depth < pops)
		return FKT_VERDICT_UNDERFLOW;
	if (now->depth - pops + pushes > FKT_PROGRAM_DEPTH)
		return FKT_VERDICT_OVERFLOW;
	now->depth = now->depth - pops + pushes;
	return FKT_VERDICT_GOOD;
}

/* Counts the words that the instruction emits. */
static inline enum fkt_verdict fkt_check_emits(const struct fkt_program_check *check,
					       const struct fkt_insn *insn, struct fkt_program_state *now)
{
	__u32 words;

	if (insn->op == FKT_OP_EMIT)
		words = 1;
	else if (insn->op == FKT_OP_EMIT_STRING || insn->op == FKT_OP_EMIT_WORDS)
		words = insn->size / 8;
	else
		return FKT_VERDICT_GOOD;
	if (now->tail)
		return FKT_VERDICT_AFTER_TAIL;
	if (now->words + words > check->program->words)
		return FKT_VERDICT_WORDS;
	now->words += words;
	now->tail = !!(insn->flags & FKT_INSN_TAIL);
	return FKT_VERDICT_GOOD;
}

/* Follows the instruction `at` to those that can be next. */
static inline enum fkt_verdict fkt_check_step(struct fkt_program_check *check, __u32 at)
{
	const struct fkt_insn *insn = &check->program->insn[at];
	struct fkt_program_state now = check->state[at];
	enum fkt_verdict verdict;

	if (!now.reached)
		return FKT_VERDICT_UNREACHED;
	verdict = fkt_check_insn(check, insn);
	if (verdict == FKT_VERDICT_GOOD)
		verdict = fkt_check_stack(insn, &now);
	if (verdict == FKT_VERDICT_GOOD)
		verdict = fkt_check_emits(check, insn, &now);
	if (verdict != FKT_VERDICT_GOOD)
		return verdict;
	check->matches += insn->op == FKT_OP_MATCH;
	if (fkt_has_target(insn)) {
		verdict = fkt_check_target(check, at, &now);
		if (verdict != FKT_VERDICT_GOOD || insn->op == FKT_OP_JUMP)
			return verdict;
	}
	return fkt_check_reach(check, at + 1, &now);
}

static inline struct fkt_program_verdict fkt_program_says(enum fkt_verdict verdict, __u32 at)
{
	struct fkt_program_verdict says;

	says.verdict = verdict;
	says.at = at;
	return says;
}

/* Checks the block's size, the head and the texts. */
static inline struct fkt_program_verdict fkt_check_head(const struct fkt_program *program, size_t bytes,
							const struct fkt_program_rules *rules)
{
	__u32 i;

	if (bytes < sizeof(*program) || program->insns > FKT_PROGRAM_INSNS ||
	    program->texts > FKT_PROGRAM_TEXTS || program->zero ||
	    bytes != FKT_PROGRAM_BYTES(program->insns, program->texts))
		return fkt_program_says(FKT_VERDICT_SIZE, 0);
	if (program->words > FKT_PROGRAM_WORDS || program->words > rules->emits)
		return fkt_program_says(FKT_VERDICT_WORDS, 0);
	for (i = 0; i < program->texts; i++)
		if (fkt_program_text(program, i)[FKT_PROGRAM_TEXT_BYTES - 1])
			return fkt_program_says(FKT_VERDICT_TEXT, i);
	return fkt_program_says(FKT_VERDICT_GOOD, 0);
}

/*
 * Returns FKT_VERDICT_GOOD, or the first thing that is wrong and where. program: `bytes` bytes, aligned
 * to 8, that nothing changes between here and the last run (a copy in kernel memory). check: memory for
 * the verifier's own use; 540 bytes, so not on a kernel stack that may be deep.
 */
static inline struct fkt_program_verdict fkt_program_verify(const struct fkt_program *program, size_t bytes,
							    const struct fkt_program_rules *rules,
							    struct fkt_program_check *check)
{
	struct fkt_program_verdict says = fkt_check_head(program, bytes, rules);
	const struct fkt_program_state nothing = { 0, 0, 0, 0 };
	const struct fkt_program_state start = { 1, 0, 0, 0 };
	__u32 i;

	if (says.verdict != FKT_VERDICT_GOOD)
		return says;
	check->program = program;
	check->rules = rules;
	check->matches = 0;
	for (i = 0; i <= FKT_PROGRAM_INSNS; i++)
		check->state[i] = nothing;
	check->state[0] = start;
	for (i = 0; i < program->insns; i++) {
		says = fkt_program_says(fkt_check_step(check, i), i);
		if (says.verdict != FKT_VERDICT_GOOD)
			return says;
	}
	return says;
}

#endif /* FKT_PROGRAM_VERIFY_H */
