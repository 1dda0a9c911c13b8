// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the programs (fkt/program.h) that decide what is recorded: a test for each filter of the configuration, and
 * one word, the context of the hit. They are verified as those that come from user space.
 */

#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>

#include <fkt/call_hit.h>
#include <fkt/kft_parse.h>

#include "ring/clock.h"
#include "conditions.h"

#define MOST_INSNS 16

struct writer {
	struct fkt_program *program;
	const char *task; /* pattern of its name, which the program's text gets; NULL: none */
	u32 task_bytes;
};

/* Ticks of the TSC. */
u64 fkt_kft_ticks(u64 ns)
{
	struct fkt_clocks clocks = { .clock = FKT_CLOCK_TSC };

	fkt_clock_read(&clocks, false);
	return fkt_ticks_convert(ns, clocks.khz, NSEC_PER_MSEC);
}

static struct fkt_insn *add(struct writer *writer, enum fkt_op op, enum fkt_from from, u32 index)
{
	struct fkt_insn *insn = &writer->program->insn[writer->program->insns++];

	*insn = (struct fkt_insn){ .op = op, .how = from, .index = index, .target = FKT_TARGET_DROP };
	return insn;
}

/* Drops the call unless the operand is from `least` to `most`. */
static void test(struct writer *writer, enum fkt_from from, u32 index, u64 least, u64 most)
{
	struct fkt_insn *insn = add(writer, FKT_OP_TEST, from, index);

	insn->value = least;
	insn->span = most - least;
}

static void test_context(struct writer *writer, enum fkt_context context, u64 least, u64 most)
{
	test(writer, FKT_FROM_CONTEXT, context, least, most);
}

/* Drops the call unless the flag is set. */
static void test_flag(struct writer *writer, enum fkt_context context, u32 number)
{
	struct fkt_insn *insn = add(writer, FKT_OP_TEST, FKT_FROM_CONTEXT, context);

	insn->size = number;
	insn->value = 1;
}

static void test_times(struct writer *writer, const struct fkt_kft_config *config, u64 mintime)
{
	const u32 word = fkt_kft_says(config, FKT_KFT_CPUTIME) ? FKT_CALL_CPUTIME : FKT_CALL_DURATION;

	if (mintime)
		test(writer, FKT_FROM_WORD, word, fkt_kft_ticks(mintime), U64_MAX);
	if (config->maxtime)
		test(writer, FKT_FROM_WORD, word, 0, fkt_kft_ticks(config->maxtime));
	if (config->stop.moment == FKT_KFT_TIME)
		test_context(writer, FKT_CONTEXT_SINCE_START, 0, fkt_kft_ticks(config->stop.time));
}

static void test_place(struct writer *writer, const struct fkt_kft_config *config)
{
	if (fkt_kft_says(config, FKT_KFT_AUTOREPEAT))
		test_flag(writer, FKT_CONTEXT_FLAG, FKT_KFT_RUNS);
	if (fkt_kft_says(config, FKT_KFT_CALLER))
		test_flag(writer, FKT_CONTEXT_TASK_FLAG, FKT_KFT_INSIDE);
	if (fkt_kft_says(config, FKT_KFT_DEPTH))
		test(writer, FKT_FROM_WORD, FKT_CALL_DEPTH, 0, config->depth);
	if (fkt_kft_says(config, FKT_KFT_NOINTS))
		test_context(writer, FKT_CONTEXT_LEVEL, FKT_LEVEL_TASK, FKT_LEVEL_TASK);
	if (fkt_kft_says(config, FKT_KFT_ONLYINTS))
		test_context(writer, FKT_CONTEXT_LEVEL, FKT_LEVEL_SOFTIRQ, FKT_LEVEL_NMI);
	if (fkt_kft_says(config, FKT_KFT_CPU))
		test_context(writer, FKT_CONTEXT_CPU, config->cpu, config->cpu);
	if (fkt_kft_says(config, FKT_KFT_UID))
		test_context(writer, FKT_CONTEXT_UID, config->uid, config->uid);
	if (fkt_kft_says(config, FKT_KFT_CGROUP))
		test_context(writer, FKT_CONTEXT_CGROUP, config->cgroup, config->cgroup);
	if (writer->task)
		add(writer, FKT_OP_MATCH, FKT_FROM_CONTEXT, FKT_CONTEXT_TASK);
}

/* Writes the context of what is kept (enum fkt_level). */
static void emit_context(struct writer *writer)
{
	add(writer, FKT_OP_EMIT, FKT_FROM_CONTEXT, FKT_CONTEXT_LEVEL)->target = 0;
	writer->program->words = 1;
}

/* Writes a program without instructions, which keeps everything. Returns its bytes. */
u32 fkt_kft_write_nothing(void *at)
{
	*(struct fkt_program *)at = (struct fkt_program){};
	return sizeof(struct fkt_program);
}

/*
 * Writes the program that keeps the calls which the configuration says, of functions with this minimum (ns), and emits
 * their contexts. With `untimed` it is also that of entries. Returns its bytes, at most FKT_KFT_PROGRAM_BYTES.
 */
u32 fkt_kft_write_condition(void *at, const struct fkt_kft_config *config, const char *text, u64 mintime)
{
	struct writer writer = { .program = at };
	char *task;

	BUILD_BUG_ON(FKT_PROGRAM_BYTES(MOST_INSNS, 1) > FKT_KFT_PROGRAM_BYTES);
	fkt_kft_write_nothing(at);
	if (fkt_kft_says(config, FKT_KFT_TASK)) {
		writer.task = text + config->task.at;
		writer.task_bytes = config->task.bytes;
	}
	test_times(&writer, config, mintime);
	test_place(&writer, config);
	emit_context(&writer);
	if (writer.task) {
		task = (char *)&writer.program->insn[writer.program->insns];
		memset(task, 0, FKT_PROGRAM_TEXT_BYTES);
		memcpy(task, writer.task, min_t(u32, writer.task_bytes, FKT_PROGRAM_TEXT_BYTES - 1));
		writer.program->texts = 1;
	}
	return FKT_PROGRAM_BYTES(writer.program->insns, writer.program->texts);
}

/*
 * Writes the program that keeps entries with little stack left, and emits their contexts. Reading
 * FKT_CONTEXT_LOWEST_STACK also updates the recording's lowest value. Returns its bytes, at most FKT_KFT_PROGRAM_BYTES.
 */
u32 fkt_kft_write_watch(void *at, const struct fkt_kft_config *config)
{
	struct writer writer = { .program = at };
	struct fkt_insn *insn;

	fkt_kft_write_nothing(at);
	/* Less than 0 bytes are never left. */
	test_context(&writer, FKT_CONTEXT_STACK_LEFT, 0, config->stack - 1);
	if (fkt_kft_says(config, FKT_KFT_AUTOREPEAT))
		test_flag(&writer, FKT_CONTEXT_FLAG, FKT_KFT_RUNS);
	add(&writer, FKT_OP_PUSH, FKT_FROM_CONTEXT, FKT_CONTEXT_LOWEST_STACK)->target = 0;
	if (config->is_worst_stack) {
		insn = add(&writer, FKT_OP_TEST_POP, FKT_FROM_CONTEXT, FKT_CONTEXT_STACK_LEFT);
		insn->compare = FKT_COMPARE_BELOW;
	} else {
		test(&writer, FKT_FROM_POP, 0, 0, U64_MAX);
	}
	emit_context(&writer);
	return FKT_PROGRAM_BYTES(writer.program->insns, 0);
}

/*
 * Returns whether return probes cannot see the calls that are recorded: they know no words of the task, and what they
 * see cannot be held.
 */
bool fkt_kft_needs_trampoline(const struct fkt_kft_config *config)
{
	return fkt_kft_says(config, FKT_KFT_DEPTH) || fkt_kft_says(config, FKT_KFT_CPUTIME) ||
	       fkt_kft_says(config, FKT_KFT_KEEP);
}
