// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the programs (fkt/program.h) that decide what is recorded: a test for each limit of the configuration and one
 * word, the context of the hit; and the tests of a trigger's condition. They are verified as those that come from user
 * space.
 *
 * A condition is the part of the language of lib/query/expression.h that needs no types but that of the result:
 *
 *	condition  = all { "||" all }
 *	all        = comparison { "&&" comparison }
 *	comparison = NAME OPERATOR value
 *
 * A comparison is one instruction, which continues at the next alternative if it does not hold.
 */

#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>

#include <fkt/kft_rules.h>
#include <fkt/kft_words.h>

#include "conditions.h"
#include "symbols.h"

#define INSNS_MOST 32

/* ---- programs ---- */

struct writer {
	struct fkt_program *program;
	char texts[FKT_PROGRAM_TEXTS][FKT_PROGRAM_TEXT_BYTES];
};

/* Writes a program without instructions, which keeps everything. Returns its bytes. */
u32 fkt_kft_write_nothing(void *at)
{
	*(struct fkt_program *)at = (struct fkt_program){};
	return sizeof(struct fkt_program);
}

static struct fkt_insn *add(struct writer *writer, enum fkt_op op, enum fkt_from from, u32 index)
{
	struct fkt_insn *insn = &writer->program->insn[writer->program->insns++];

	*insn = (struct fkt_insn){ .op = op, .how = from, .index = index, .target = FKT_TARGET_DROP };
	return insn;
}

/* Drops the hit unless the operand is from `least` to `most`. A flag has the number 0. */
static void test(struct writer *writer, enum fkt_from from, u32 index, u64 least, u64 most)
{
	struct fkt_insn *insn = add(writer, FKT_OP_TEST, from, index);

	insn->value = least;
	insn->span = most - least;
}

/* Drops the hit unless the task's name fits; is_not: if it does. */
static void match_task(struct writer *writer, const char *name, u32 bytes, bool is_not)
{
	struct fkt_insn *insn = add(writer, FKT_OP_MATCH, FKT_FROM_CONTEXT, FKT_CONTEXT_TASK);

	insn->flags = is_not ? FKT_INSN_NOT : 0;
	insn->value = writer->program->texts;
	memcpy(writer->texts[writer->program->texts++], name, bytes);
}

/* Writes the context of what is kept (enum fkt_level). */
static void emit_context(struct writer *writer)
{
	add(writer, FKT_OP_EMIT, FKT_FROM_CONTEXT, FKT_CONTEXT_LEVEL)->target = 0;
	writer->program->words = 1;
}

/* Returns the program's bytes. */
static u32 end(const struct writer *writer)
{
	struct fkt_program *program = writer->program;

	BUILD_BUG_ON(FKT_PROGRAM_BYTES(INSNS_MOST, FKT_PROGRAM_TEXTS) > FKT_KFT_PROGRAM_BYTES);
	memcpy(&program->insn[program->insns], writer->texts, program->texts * FKT_PROGRAM_TEXT_BYTES);
	return FKT_PROGRAM_BYTES(program->insns, program->texts);
}

/* ---- limits ---- */

static u64 value_of(const struct fkt_kft_limit *limit, u64 number)
{
	return fkt_kft_is_time(limit->from, limit->index) && number != U64_MAX ? fkt_kft_ticks(number) : number;
}

/*
 * Writes the program that keeps the calls which the configuration says, of functions with this minimum (ns), and emits
 * their contexts. With `untimed` it is also that of entries. Returns its bytes, at most FKT_KFT_PROGRAM_BYTES.
 */
u32 fkt_kft_write_limits(void *at, const struct fkt_kft_config *config, const char *text, u64 mintime)
{
	struct fkt_kft_limit limits[FKT_KFT_LIMITS], *limit;
	const u32 count = fkt_kft_limits(config, mintime, limits);
	struct writer writer = { .program = at };

	fkt_kft_write_nothing(at);
	for (limit = limits; limit < limits + count; limit++)
		if (limit->key == FKT_KFT_TASK)
			match_task(&writer, text + config->task.at, config->task.bytes, false);
		else
			test(&writer, limit->from, limit->index, value_of(limit, limit->least),
			     value_of(limit, limit->most));
	emit_context(&writer);
	return end(&writer);
}

/*
 * Writes the program that keeps entries with little stack left, and emits their contexts. Reading
 * FKT_CONTEXT_LOWEST_STACK also updates the recording's lowest value. Returns its bytes, at most FKT_KFT_PROGRAM_BYTES.
 */
u32 fkt_kft_write_watch(void *at, const struct fkt_kft_config *config)
{
	struct writer writer = { .program = at };

	fkt_kft_write_nothing(at);
	/* Less than 0 bytes are never left. */
	test(&writer, FKT_FROM_CONTEXT, FKT_CONTEXT_STACK_LEFT, 0, config->stack - 1);
	if (fkt_kft_says(config, FKT_KFT_AUTOREPEAT))
		test(&writer, FKT_FROM_CONTEXT, FKT_CONTEXT_FLAG, 1, 1);
	add(&writer, FKT_OP_PUSH, FKT_FROM_CONTEXT, FKT_CONTEXT_LOWEST_STACK)->target = 0;
	if (config->is_worst_stack)
		add(&writer, FKT_OP_TEST_POP, FKT_FROM_CONTEXT, FKT_CONTEXT_STACK_LEFT)->compare = FKT_COMPARE_BELOW;
	else
		test(&writer, FKT_FROM_POP, 0, 0, U64_MAX);
	emit_context(&writer);
	return end(&writer);
}

/* ---- words of a condition ---- */

enum token { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_SIGN, TOKEN_UNCLOSED };

struct compiler {
	struct fkt_kft_parser p; /* of the condition: behind the next word, and its end */
	struct fkt_kft_word whole;
	enum token kind; /* the next one */
	struct fkt_kft_word word; /* of it; of a text: without its quotation marks */
	const struct fkt_kft_symbol *symbol;
	bool at_exit;
	struct fkt_kft_needs *needs;
	struct writer writer;
	u32 first; /* instruction of this alternative */
};

static bool is_of_word(char c)
{
	/* isalnum() has letters that are not ASCII. */
	return (isascii(c) && isalnum(c)) || c == '_';
}

/* Returns how many characters from here on belong to a name, which may lead through structures, or to a number. */
static u32 run_of_word(const struct fkt_kft_parser *p)
{
	u32 n = 1;

	for (; p->at + n < p->size; n++) {
		const char *here = &p->text[p->at + n];

		if (!is_of_word(*here) && *here != '.' && *here != '[' && *here != ']' &&
		    !(*here == '-' && here[1] == '>') && !(*here == '>' && here[-1] == '-'))
			break;
	}
	return n;
}

static u32 run_of_sign(const struct fkt_kft_parser *p)
{
	static const char *const pairs[] = { "&&", "||", "==", "!=", "!~", "<=", ">=" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		if (p->size - p->at >= 2 && !memcmp(p->text + p->at, pairs[i], 2))
			return 2;
	return 1;
}

/* Takes a text with the quotation marks around it. Messages give the column of the first one. */
static void take_quoted(struct compiler *c)
{
	struct fkt_kft_parser *p = &c->p;
	const char mark = p->text[p->at++];

	for (c->word.at++; p->at < p->size && p->text[p->at] != mark; p->at++)
		c->word.bytes++;
	c->kind = p->at < p->size ? TOKEN_TEXT : TOKEN_UNCLOSED;
	p->at += p->at < p->size;
}

static void advance(struct compiler *c)
{
	struct fkt_kft_parser *p = &c->p;
	char first;

	while (p->at < p->size && (p->text[p->at] == ' ' || p->text[p->at] == '\t'))
		p->at++;
	c->word = fkt_kft_behind(c->whole, p->at - c->whole.at);
	c->word.bytes = 0;
	c->kind = TOKEN_END;
	if (p->at == p->size)
		return;
	first = p->text[p->at];
	if (first == '"' || first == '\'') {
		take_quoted(c);
		return;
	}
	c->kind = isdigit(first) || first == '-' ? TOKEN_NUMBER : is_of_word(first) ? TOKEN_NAME : TOKEN_SIGN;
	c->word.bytes = c->kind == TOKEN_SIGN ? run_of_sign(p) : run_of_word(p);
	p->at += c->word.bytes;
}

/* Returns whether the next word is this one. */
static bool is(const struct compiler *c, enum token kind, const char *text)
{
	return c->kind == kind && fkt_kft_is(&c->p, &c->word, text);
}

/* Returns -EINVAL. */
static int wrong(struct compiler *c, const struct fkt_kft_word *word, const char *what)
{
	fkt_kft_wrong(&c->p, word, what);
	return -EINVAL;
}

/* ---- names ---- */

struct name {
	const char *name;
	u8 from; /* enum fkt_from */
	u8 index;
	u8 bits;
};

static const struct name names[] = {
	{ "pid", FKT_FROM_CONTEXT, FKT_CONTEXT_PID, 32 },
	{ "tid", FKT_FROM_CONTEXT, FKT_CONTEXT_TID, 32 },
	{ "uid", FKT_FROM_CONTEXT, FKT_CONTEXT_UID, 32 },
	{ "cpu", FKT_FROM_CONTEXT, FKT_CONTEXT_CPU, 32 },
	{ "context", FKT_FROM_CONTEXT, FKT_CONTEXT_LEVEL, 32 },
	{ "task", FKT_FROM_CONTEXT, FKT_CONTEXT_TASK, 64 },
	{ "cgroup", FKT_FROM_CONTEXT, FKT_CONTEXT_CGROUP, 64 },
	{ "stack_left", FKT_FROM_CONTEXT, FKT_CONTEXT_STACK_LEFT, 64 },
	{ "lowest_stack", FKT_FROM_CONTEXT, FKT_CONTEXT_LOWEST_STACK, 64 },
	{ "since_start", FKT_FROM_CONTEXT, FKT_CONTEXT_SINCE_START, 64 },
	{ "ret", FKT_FROM_WORD, FKT_CALL_RESULT, 64 },
	{ "duration", FKT_FROM_WORD, FKT_CALL_DURATION, 64 },
	{ "cputime", FKT_FROM_WORD, FKT_CALL_CPUTIME, 64 },
	{ "depth", FKT_FROM_WORD, FKT_CALL_DEPTH, 64 },
};

static bool is_word(const struct name *name, enum fkt_call_word word)
{
	return name->from == FKT_FROM_WORD && name->index == word;
}

static bool is_context(const struct name *name, enum fkt_context context)
{
	return name->from == FKT_FROM_CONTEXT && name->index == context;
}

static int check_name(struct compiler *c, const struct name *name)
{
	const bool is_of_task = is_word(name, FKT_CALL_CPUTIME) || is_word(name, FKT_CALL_DEPTH);

	if (name->from == FKT_FROM_WORD && !c->at_exit)
		return wrong(c, &c->word, " is known when the function returns: write exit instead of entry");
	if (is_word(name, FKT_CALL_RESULT) && !c->symbol->result_bytes)
		return wrong(c, &c->word, ": the kernel does not describe a result of this function");
	if (is_of_task && !c->symbol->is_described)
		return wrong(c, &c->word,
			     ": the function's arguments are not known, so a return probe sees it, which does not know this");
	c->needs->of_task |= is_of_task;
	return 0;
}

static int take_name(struct compiler *c, const struct name **name)
{
	int err;

	if (is(c, TOKEN_SIGN, "(") || is(c, TOKEN_SIGN, "!"))
		return wrong(c, &c->word, " is for fkt_record --kft: here comparisons are joined by && and ||");
	for (*name = names; *name < names + ARRAY_SIZE(names); ++*name) {
		if (!is(c, TOKEN_NAME, (*name)->name))
			continue;
		err = check_name(c, *name);
		if (!err)
			advance(c);
		return err;
	}
	return wrong(c, &c->word,
		     " where duration, cputime, depth, ret, pid, tid, task, uid, cgroup, cpu, context, since_start, stack_left or lowest_stack should stand (arguments: fkt_record --kft)");
}

/* ---- values ---- */

typedef __int128 wide; /* every number of 64 bits, signed or not */

/* Writes "-ENOENT", or a number if the kernel has no names of errors (CONFIG_SYMBOLIC_ERRNAME) or none for this one. */
static const char *error_name(long err, char *name, size_t bytes)
{
	scnprintf(name, bytes, "%pe", ERR_PTR(-err));
	return name;
}

static bool read_error(const struct compiler *c, wide *value)
{
	char name[24];
	long err;

	for (err = 1; err <= MAX_ERRNO; err++) {
		if (!fkt_kft_is(&c->p, &c->word, error_name(err, name, sizeof(name))))
			continue;
		*value = -err;
		return true;
	}
	return false;
}

/* Reads "1.5ms", "3000cycles" or 0. Returns whether it is a time; then *ticks is set. */
static bool read_time(const struct compiler *c, wide *ticks)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = { { "ns", 1 }, { "us", NSEC_PER_USEC }, { "ms", NSEC_PER_MSEC }, { "s", NSEC_PER_SEC } };
	const u64 most = 1000000000ULL * NSEC_PER_SEC; /* 31 years */
	u64 whole, fraction = 0, scale = 1;
	u32 digits = fkt_kft_digits(&c->p, &c->word, most, &whole), i;
	struct fkt_kft_word rest = fkt_kft_behind(c->word, digits);

	if (digits && rest.bytes && c->p.text[rest.at] == '.') {
		rest = fkt_kft_behind(rest, 1);
		digits = fkt_kft_digits(&c->p, &rest, NSEC_PER_SEC, &fraction);
		for (i = 0; i < digits && i < 9; i++)
			scale *= 10;
		if (digits > 9)
			return false;
		rest = fkt_kft_behind(rest, digits);
	}
	if (!digits)
		return false;
	*ticks = whole;
	if ((fkt_kft_is(&c->p, &rest, "cycles") && scale == 1) || fkt_kft_is(&c->p, &c->word, "0"))
		return true;
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (!fkt_kft_is(&c->p, &rest, units[i].name))
			continue;
		*ticks = fkt_kft_ticks(whole * units[i].ns + fraction * units[i].ns / scale);
		return whole <= most / units[i].ns;
	}
	return false;
}

/* Reads -2, 42 or 0x2a. */
static bool read_number(const struct compiler *c, wide *value)
{
	const bool is_negative = c->p.text[c->word.at] == '-';
	const struct fkt_kft_word word = fkt_kft_behind(c->word, is_negative);
	char digits[24];
	u64 number;

	if (!word.bytes || word.bytes >= sizeof(digits))
		return false;
	memcpy(digits, c->p.text + word.at, word.bytes);
	digits[word.bytes] = 0;
	/* Not octal, as numbers with a 0 before them would be. */
	if (!isdigit(digits[0]) || kstrtoull(digits, digits[1] == 'x' || digits[1] == 'X' ? 16 : 10, &number))
		return false;
	*value = is_negative ? -(wide)number : number;
	return true;
}

static bool read_level(const struct compiler *c, wide *value)
{
	static const char *const levels[] = {
		[FKT_LEVEL_TASK] = "task", [FKT_LEVEL_SOFTIRQ] = "softirq", [FKT_LEVEL_IRQ] = "irq",
		[FKT_LEVEL_NMI] = "nmi",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		if (!fkt_kft_is(&c->p, &c->word, levels[i]))
			continue;
		*value = i;
		return true;
	}
	return false;
}

static int take_number(struct compiler *c, const struct name *name, wide *value)
{
	const bool is_number = c->kind == TOKEN_NUMBER;
	char first[24];

	if (fkt_kft_is_time(name->from, name->index)) {
		if (!is_number || !read_time(c, value))
			return wrong(c, &c->word, " where a time with its unit should stand (500us, 1.5ms, 2s)");
	} else if (is_context(name, FKT_CONTEXT_LEVEL)) {
		if (!(is_number ? read_number(c, value) : read_level(c, value)))
			return wrong(c, &c->word, " where task, softirq, irq or nmi should stand");
	} else if (!is_number ||
		   !((is_word(name, FKT_CALL_RESULT) && read_error(c, value)) || read_number(c, value))) {
		return wrong(c, &c->word, error_name(EPERM, first, sizeof(first))[1] == 'E' ?
			     " where a number should stand (42, 0x2a, -2, -ENOENT)" :
			     " where a number should stand (42, 0x2a, -2; this kernel does not know names of errors)");
	}
	advance(c);
	return 0;
}

/* ---- comparisons ---- */

enum relation { IS_EQUAL, IS_UNEQUAL, IS_LESS, IS_AT_MOST, IS_MORE, IS_AT_LEAST, IS_LIKE, IS_UNLIKE, COMPARISONS };

/* Makes the test one of a result that has fewer bits than its register. */
static void narrow(struct fkt_insn *insn, u32 bits, bool is_signed)
{
	if (bits == 64)
		return;
	insn->how |= FKT_HOW_FETCH | (is_signed ? FKT_HOW_SIGNED : 0);
	insn->left = 64 - bits;
	insn->right = insn->left;
}

/* Sets the range of the test. Returns false if it is always or never true. */
static bool set_range(struct fkt_insn *insn, enum relation comparison, wide value, u32 bits, bool is_signed)
{
	const wide values = (wide)1 << bits, least = is_signed ? -(values >> 1) : 0, most = least + values - 1;
	wide first = least, last = most;

	if (value < least || value > most)
		return false;
	if (comparison == IS_UNEQUAL) {
		insn->value = value + 1;
		insn->span = U64_MAX - 1;
		return true;
	}
	if (comparison == IS_EQUAL || comparison == IS_MORE || comparison == IS_AT_LEAST)
		first = value + (comparison == IS_MORE);
	if (comparison == IS_EQUAL || comparison == IS_LESS || comparison == IS_AT_MOST)
		last = value - (comparison == IS_LESS);
	insn->value = first;
	insn->span = last - first;
	return first <= last && (first != least || last != most);
}

static int compare_number(struct compiler *c, const struct name *name, enum relation comparison,
			  const struct fkt_kft_word *sign)
{
	const bool is_result = is_word(name, FKT_CALL_RESULT), is_signed = is_result && c->symbol->is_result_signed;
	const u32 bits = is_result ? 8 * c->symbol->result_bytes : name->bits;
	const struct fkt_kft_word word = c->word;
	struct fkt_insn *insn;
	wide value;
	int err;

	if (comparison >= IS_LIKE)
		return wrong(c, sign, " is for task: the others are numbers");
	err = take_number(c, name, &value);
	if (err)
		return err;
	insn = add(&c->writer, FKT_OP_TEST, name->from, name->index);
	if (is_result)
		narrow(insn, bits, is_signed);
	if (!set_range(insn, comparison, value, bits, is_signed))
		return wrong(c, &word, ": that is always the same, whatever is compared with it");
	if (name->from == FKT_FROM_WORD && fkt_kft_is_time(name->from, name->index) &&
	    insn->value + insn->span >= insn->value)
		c->needs->shortest = max(c->needs->shortest, insn->value);
	return 0;
}

static int compare_task(struct compiler *c, enum relation comparison, const struct fkt_kft_word *sign)
{
	const struct fkt_kft_word word = c->word;
	const char *text = c->p.text + word.at;
	u32 i;

	if (comparison != IS_EQUAL && comparison != IS_UNEQUAL && comparison < IS_LIKE)
		return wrong(c, sign, ": task is a text, for ==, !=, ~ and !~");
	if ((c->kind != TOKEN_TEXT && c->kind != TOKEN_NAME) || !word.bytes)
		return wrong(c, &word, " where a task's name should stand (\"find\")");
	/* So that the condition can be part of an instrument's line. */
	if (is(c, TOKEN_NAME, "do"))
		return wrong(c, &word, " begins an action: a task's name that is this needs quotation marks");
	for (i = 0; comparison < IS_LIKE && i < word.bytes; i++)
		if (text[i] == '*' || text[i] == '?')
			return wrong(c, &word, ": only ~ and !~ take * and ?");
	if (word.bytes >= FKT_PROGRAM_TEXT_BYTES)
		return wrong(c, &word, " is too long: at most 31 characters");
	if (c->writer.program->texts == FKT_PROGRAM_TEXTS)
		return wrong(c, &word, " is one name too many: at most 8");
	match_task(&c->writer, text, word.bytes, comparison == IS_UNEQUAL || comparison == IS_UNLIKE);
	advance(c);
	return 0;
}

static int compare(struct compiler *c)
{
	static const char *const signs[] = {
		[IS_EQUAL] = "==", [IS_UNEQUAL] = "!=", [IS_LESS] = "<", [IS_AT_MOST] = "<=", [IS_MORE] = ">",
		[IS_AT_LEAST] = ">=", [IS_LIKE] = "~", [IS_UNLIKE] = "!~",
	};
	enum relation comparison = IS_EQUAL;
	const struct name *name;
	struct fkt_kft_word sign;
	int err = take_name(c, &name);

	if (err)
		return err;
	sign = c->word;
	while (comparison < COMPARISONS && !is(c, TOKEN_SIGN, signs[comparison]))
		comparison++;
	if (comparison == COMPARISONS)
		return wrong(c, &sign, " where ==, !=, <, <=, >, >=, ~ or !~ should stand");
	/* Room for the test and a jump after it. */
	if (c->writer.program->insns + 2 > INSNS_MOST)
		return wrong(c, &sign, ": the condition is too long");
	advance(c);
	if (c->kind == TOKEN_UNCLOSED)
		return wrong(c, &c->word, ": the quotation mark is never closed");
	return is_context(name, FKT_CONTEXT_TASK) ? compare_task(c, comparison, &sign) :
						    compare_number(c, name, comparison, &sign);
}

/* ---- the whole ---- */

/* Makes the instructions of the alternative that ends here continue at the next one, which follows. */
static void end_alternative(struct compiler *c)
{
	struct fkt_program *program = c->writer.program;
	u32 i;

	/* Its target is set at the end. */
	add(&c->writer, FKT_OP_JUMP, FKT_FROM_CONST, 0);
	for (i = c->first; i + 1 < program->insns; i++)
		program->insn[i].target = program->insns;
	c->first = program->insns;
}

static int compile(struct compiler *c)
{
	int err;

	for (;; advance(c)) {
		err = compare(c);
		if (err || c->kind == TOKEN_END)
			break;
		if (is(c, TOKEN_SIGN, "||"))
			end_alternative(c);
		else if (!is(c, TOKEN_SIGN, "&&"))
			return wrong(c, &c->word, " where &&, || or the end should stand");
	}
	/* A short call may fulfil another alternative. */
	if (c->first)
		c->needs->shortest = 0;
	return err;
}

/*
 * Writes the program of a trigger's condition. text: of the configuration; symbol: the trigger's function. Sets *needs.
 * Returns the program's bytes, at most FKT_KFT_PROGRAM_BYTES; 0: the condition is wrong, and the error is set.
 */
u32 fkt_kft_write_trigger(void *at, const char *text, const struct fkt_kft_trigger *trigger,
			  const struct fkt_kft_symbol *symbol, struct fkt_kft_needs *needs, struct fkt_kft_error *error)
{
	struct fkt_program *program = at;
	struct compiler c = {
		.p = {
			.text = text, .at = trigger->condition.at, .error = error,
			.size = trigger->condition.at + trigger->condition.bytes,
		},
		.whole = trigger->condition,
		.symbol = symbol,
		.at_exit = trigger->moment == FKT_KFT_EXIT,
		.needs = needs,
		.writer = { .program = program },
	};
	u32 i;

	*needs = (struct fkt_kft_needs){};
	fkt_kft_write_nothing(at);
	advance(&c);
	if (compile(&c))
		return 0;
	for (i = 0; i < program->insns; i++)
		if (program->insn[i].op == FKT_OP_JUMP)
			program->insn[i].target = program->insns;
	return end(&c.writer);
}
