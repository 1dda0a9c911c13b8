// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiles the conditions of triggers: comparisons that are joined by && and ||, of what the kernel knows of each hit.
 * This is the part of the language of lib/query/expression.h that needs no types but that of the result.
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
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>

#include <fkt/call_hit.h>
#include <fkt/kft_words.h>

#include "conditions.h"
#include "symbol_set.h"
#include "triggers.h"

#define INSNS_MOST 32

/* ---- words ---- */

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_SIGN, TOKEN_UNCLOSED };

struct token {
	enum token_kind kind;
	struct fkt_kft_word word; /* of a text: without its quotation marks */
};

struct compiler {
	struct fkt_kft_parser p; /* for messages */
	u32 at, end; /* of the condition, in the text */
	struct fkt_kft_word whole;
	struct token token; /* the next one */
	const struct fkt_kft_symbol *symbol;
	bool at_exit;
	struct fkt_kft_needs *needs;
	struct fkt_program *program;
	u32 first; /* instruction of this alternative */
	char texts[FKT_PROGRAM_TEXTS][FKT_PROGRAM_TEXT_BYTES];
};

static bool is_of_word(char c)
{
	/* isalnum() has letters that are not ASCII. */
	return (isascii(c) && isalnum(c)) || c == '_';
}

/* Returns how many characters from `at` on belong to a name, which may lead through structures, or to a number. */
static u32 run_of_word(const struct compiler *c)
{
	u32 n = 1;

	for (; c->at + n < c->end; n++) {
		const char *here = &c->p.text[c->at + n];

		if (!is_of_word(*here) && *here != '.' && *here != '[' && *here != ']' &&
		    !(*here == '-' && here[1] == '>') && !(*here == '>' && here[-1] == '-'))
			break;
	}
	return n;
}

static u32 run_of_sign(const struct compiler *c)
{
	static const char *const pairs[] = { "&&", "||", "==", "!=", "!~", "<=", ">=" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		if (c->end - c->at >= 2 && !memcmp(c->p.text + c->at, pairs[i], 2))
			return 2;
	return 1;
}

/* Takes a text with the quotation marks around it. */
static void take_quoted(struct compiler *c)
{
	const char mark = c->p.text[c->at++];

	/* Messages give the column of the mark. */
	c->token.word.at++;
	c->token.word.bytes = 0;
	while (c->at < c->end && c->p.text[c->at] != mark) {
		c->at++;
		c->token.word.bytes++;
	}
	c->token.kind = c->at < c->end ? TOKEN_TEXT : TOKEN_UNCLOSED;
	c->at += c->at < c->end;
}

static void advance(struct compiler *c)
{
	char first;

	while (c->at < c->end && (c->p.text[c->at] == ' ' || c->p.text[c->at] == '\t'))
		c->at++;
	c->token.kind = TOKEN_END;
	c->token.word = c->whole;
	c->token.word.column += c->at - c->whole.at;
	c->token.word.at = c->at;
	c->token.word.bytes = 0;
	if (c->at == c->end)
		return;
	first = c->p.text[c->at];
	if (first == '"' || first == '\'') {
		take_quoted(c);
		return;
	}
	if (isdigit(first) || first == '-')
		c->token.kind = TOKEN_NUMBER;
	else
		c->token.kind = is_of_word(first) ? TOKEN_NAME : TOKEN_SIGN;
	c->token.word.bytes = c->token.kind == TOKEN_SIGN ? run_of_sign(c) : run_of_word(c);
	c->at += c->token.word.bytes;
}

static bool is_sign(const struct compiler *c, const char *sign)
{
	return c->token.kind == TOKEN_SIGN && fkt_kft_is(&c->p, &c->token.word, sign);
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
	bool is_time; /* ticks */
	bool is_of_task; /* is measured for the task */
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
	{ "since_start", FKT_FROM_CONTEXT, FKT_CONTEXT_SINCE_START, 64, .is_time = true },
	{ "ret", FKT_FROM_WORD, FKT_CALL_RESULT, 64 },
	{ "duration", FKT_FROM_WORD, FKT_CALL_DURATION, 64, .is_time = true },
	{ "cputime", FKT_FROM_WORD, FKT_CALL_CPUTIME, 64, .is_time = true, .is_of_task = true },
	{ "depth", FKT_FROM_WORD, FKT_CALL_DEPTH, 64, .is_of_task = true },
};

static bool is_result(const struct name *name)
{
	return name->from == FKT_FROM_WORD && name->index == FKT_CALL_RESULT;
}

static bool is_task(const struct name *name)
{
	return name->from == FKT_FROM_CONTEXT && name->index == FKT_CONTEXT_TASK;
}

static int check_name(struct compiler *c, const struct name *name)
{
	if (name->from == FKT_FROM_WORD && !c->at_exit)
		return wrong(c, &c->token.word, " is known when the function returns: write exit instead of entry");
	if (is_result(name) && !c->symbol->result_bytes)
		return wrong(c, &c->token.word, ": the kernel does not describe a result of this function");
	if (name->is_of_task && !c->symbol->is_described)
		return wrong(c, &c->token.word,
			     ": the function's arguments are not known, so a return probe sees it, which does not know this");
	c->needs->of_task |= name->is_of_task;
	return 0;
}

/* Returns NULL, and sets the error. */
static const struct name *take_name(struct compiler *c)
{
	u32 i;

	if (is_sign(c, "(") || is_sign(c, "!")) {
		wrong(c, &c->token.word, " is for fkt_record --kft: here comparisons are joined by && and ||");
		return NULL;
	}
	for (i = 0; c->token.kind == TOKEN_NAME && i < ARRAY_SIZE(names); i++) {
		if (!fkt_kft_is(&c->p, &c->token.word, names[i].name))
			continue;
		if (check_name(c, &names[i]))
			return NULL;
		advance(c);
		return &names[i];
	}
	wrong(c, &c->token.word,
	      " where duration, cputime, depth, ret, pid, tid, task, uid, cgroup, cpu, context, since_start, stack_left or lowest_stack should stand (arguments: fkt_record --kft)");
	return NULL;
}

/* ---- values ---- */

/* Parses "-ENOENT". */
static bool take_error_name(const struct compiler *c, const struct fkt_kft_word *word, u64 *number)
{
	char name[24];
	long err;

	for (err = 1; err <= MAX_ERRNO; err++) {
		/* With the minus. Without names in the kernel it is a number, which no word is equal to. */
		scnprintf(name, sizeof(name), "%pe", ERR_PTR(-err));
		if (fkt_kft_is(&c->p, word, name)) {
			*number = err;
			return true;
		}
	}
	return false;
}

/* Returns whether the kernel knows names of errors (CONFIG_SYMBOLIC_ERRNAME). */
static bool has_error_names(void)
{
	char name[24];

	scnprintf(name, sizeof(name), "%pe", ERR_PTR(-EPERM));
	return name[1] == 'E';
}

/* Parses "1.5ms" to ns, and "3000cycles" to ticks. Returns whether it is a time; then *ticks is set. */
static bool read_time(const struct compiler *c, const struct fkt_kft_word *word, u64 *ticks)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = { { "ns", 1 }, { "us", NSEC_PER_USEC }, { "ms", NSEC_PER_MSEC }, { "s", NSEC_PER_SEC } };
	const u64 most = 1000000000; /* s: 31 years */
	u64 whole, fraction = 0, scale = 1;
	struct fkt_kft_word rest;
	u32 digits = fkt_kft_digits(&c->p, word, most * NSEC_PER_SEC, &whole), i;

	if (!digits)
		return false;
	rest = fkt_kft_behind(*word, digits);
	if (rest.bytes && c->p.text[rest.at] == '.') {
		rest = fkt_kft_behind(rest, 1);
		digits = fkt_kft_digits(&c->p, &rest, NSEC_PER_SEC, &fraction);
		for (i = 0; i < digits && i < 9; i++)
			scale *= 10;
		if (!digits || digits > 9)
			return false;
		rest = fkt_kft_behind(rest, digits);
	}
	if (fkt_kft_is(&c->p, &rest, "cycles") && scale == 1) {
		*ticks = whole;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (!fkt_kft_is(&c->p, &rest, units[i].name))
			continue;
		if (whole > div64_u64(most * NSEC_PER_SEC, units[i].ns))
			return false;
		*ticks = fkt_kft_ticks(whole * units[i].ns + div64_u64(fraction * units[i].ns, scale));
		return true;
	}
	return false;
}

/* Parses -2, 42 or 0x2a. */
static bool read_number(const struct compiler *c, struct fkt_kft_word word, bool *is_negative, u64 *number)
{
	char digits[24];

	*is_negative = c->p.text[word.at] == '-';
	if (*is_negative)
		word = fkt_kft_behind(word, 1);
	if (!word.bytes || word.bytes >= sizeof(digits))
		return false;
	memcpy(digits, c->p.text + word.at, word.bytes);
	digits[word.bytes] = 0;
	if (!isdigit(digits[0]))
		return false;
	/* Not octal, as numbers with a 0 before them would be. */
	return !kstrtoull(digits, digits[1] == 'x' || digits[1] == 'X' ? 16 : 10, number);
}

static bool read_level(const struct compiler *c, u64 *number)
{
	static const char *const levels[] = {
		[FKT_LEVEL_TASK] = "task", [FKT_LEVEL_SOFTIRQ] = "softirq", [FKT_LEVEL_IRQ] = "irq",
		[FKT_LEVEL_NMI] = "nmi",
	};

	for (*number = 0; *number < ARRAY_SIZE(levels); ++*number)
		if (fkt_kft_is(&c->p, &c->token.word, levels[*number]))
			return true;
	return false;
}

static int take_number(struct compiler *c, const struct name *name, bool *is_negative, u64 *number)
{
	const struct fkt_kft_word word = c->token.word;
	bool is_good;

	*is_negative = false;
	*number = 0;
	if (name->is_time) {
		is_good = c->token.kind == TOKEN_NUMBER &&
			  (read_time(c, &word, number) || fkt_kft_is(&c->p, &word, "0"));
		if (!is_good)
			return wrong(c, &word, " where a time with its unit should stand (500us, 1.5ms, 2s)");
	} else if (name->from == FKT_FROM_CONTEXT && name->index == FKT_CONTEXT_LEVEL) {
		is_good = c->token.kind == TOKEN_NUMBER ? read_number(c, word, is_negative, number) :
							  read_level(c, number);
		if (!is_good)
			return wrong(c, &word, " where task, softirq, irq or nmi should stand");
	} else if (is_result(name) && c->token.kind == TOKEN_NUMBER && take_error_name(c, &word, number)) {
		*is_negative = true;
	} else if (c->token.kind != TOKEN_NUMBER || !read_number(c, word, is_negative, number)) {
		return wrong(c, &word, has_error_names() ?
			     " where a number should stand (42, 0x2a, -2, -ENOENT)" :
			     " where a number should stand (42, 0x2a, -2; this kernel does not know names of errors)");
	}
	advance(c);
	return 0;
}

/* ---- comparisons ---- */

/* The word is that of the operator. */
static bool is_operator(const struct compiler *c, const struct fkt_kft_word *word, const char *sign)
{
	return fkt_kft_is(&c->p, word, sign);
}

static struct fkt_insn *add(struct compiler *c, enum fkt_op op, const struct name *name)
{
	struct fkt_insn *insn = &c->program->insn[c->program->insns++];

	*insn = (struct fkt_insn){ .op = op, .how = name->from, .index = name->index, .target = FKT_TARGET_DROP };
	return insn;
}

/* Makes the test one of a result that has fewer bits than its register. */
static void narrow(const struct compiler *c, const struct name *name, struct fkt_insn *insn)
{
	if (!is_result(name) || c->symbol->result_bytes == sizeof(u64))
		return;
	insn->how |= FKT_HOW_FETCH | (c->symbol->is_result_signed ? FKT_HOW_SIGNED : 0);
	insn->left = 64 - 8 * c->symbol->result_bytes;
	insn->right = insn->left;
}

/* Values of a type, in the order of their size: signed ones with the highest bit inverted. */
struct values {
	u64 least, most;
	u64 bias;
};

static struct values values_of(const struct compiler *c, const struct name *name)
{
	const u32 bits = is_result(name) ? 8 * c->symbol->result_bytes : name->bits;
	struct values values = { .most = bits == 64 ? U64_MAX : (1ULL << bits) - 1 };

	if (!is_result(name) || !c->symbol->is_result_signed)
		return values;
	values.bias = 1ULL << 63;
	values.least = -(1ULL << (bits - 1)) ^ values.bias;
	values.most = ((1ULL << (bits - 1)) - 1) ^ values.bias;
	return values;
}

/* Compares the number with the values: -1: below, 0: *value is set to it, 1: above. */
static int place_among(const struct values *values, bool is_negative, u64 number, u64 *value)
{
	const u64 half = 1ULL << 63;

	if (is_negative && number && (!values->bias || number > half))
		return -1;
	if (!is_negative && values->bias && number >= half)
		return 1;
	*value = (is_negative ? -number : number) ^ values->bias;
	return *value < values->least ? -1 : *value > values->most;
}

/* Sets the range of the test. Returns false if it is always or never true. */
static bool set_range(const struct compiler *c, const struct fkt_kft_word *operator, const struct values *values,
		      int place, u64 value, struct fkt_insn *insn)
{
	u64 first = values->least, last = values->most;

	if (place)
		return false;
	if (is_operator(c, operator, "!=")) {
		insn->value = (value ^ values->bias) + 1;
		insn->span = U64_MAX - 1;
		return true;
	}
	if ((is_operator(c, operator, "<") && value == first) || (is_operator(c, operator, ">") && value == last))
		return false;
	if (is_operator(c, operator, "=="))
		first = last = value;
	else if (is_operator(c, operator, "<"))
		last = value - 1;
	else if (is_operator(c, operator, "<="))
		last = value;
	else
		first = is_operator(c, operator, ">") ? value + 1 : value;
	insn->value = first ^ values->bias;
	insn->span = last - first;
	return first != values->least || last != values->most;
}

static int compare_number(struct compiler *c, const struct name *name, const struct fkt_kft_word *operator)
{
	const struct fkt_kft_word word = c->token.word;
	const struct values values = values_of(c, name);
	bool is_negative;
	u64 number, value = 0;
	struct fkt_insn *insn;
	int err, place;

	if (is_operator(c, operator, "~") || is_operator(c, operator, "!~"))
		return wrong(c, operator, " is for task: the others are numbers");
	err = take_number(c, name, &is_negative, &number);
	if (err)
		return err;
	place = place_among(&values, is_negative, number, &value);
	insn = add(c, FKT_OP_TEST, name);
	narrow(c, name, insn);
	if (!set_range(c, operator, &values, place, value, insn))
		return wrong(c, &word, ": that is always the same, whatever is compared with it");
	if (name->is_time && name->from == FKT_FROM_WORD && insn->value + insn->span >= insn->value)
		c->needs->shortest = max(c->needs->shortest, insn->value);
	return 0;
}

static int compare_task(struct compiler *c, const struct name *name, const struct fkt_kft_word *operator)
{
	const struct fkt_kft_word word = c->token.word;
	const bool is_pattern = is_operator(c, operator, "~") || is_operator(c, operator, "!~");
	struct fkt_insn *insn;
	u32 i;

	if (!is_pattern && !is_operator(c, operator, "==") && !is_operator(c, operator, "!="))
		return wrong(c, operator, ": task is a text, for ==, !=, ~ and !~");
	if ((c->token.kind != TOKEN_TEXT && c->token.kind != TOKEN_NAME) || !word.bytes)
		return wrong(c, &word, " where a task's name should stand (\"find\")");
	/* So that the condition can be part of an instrument's line. */
	if (c->token.kind == TOKEN_NAME && word.bytes == 2 && !memcmp(c->p.text + word.at, "do", 2))
		return wrong(c, &word, " begins an action: a task's name that is this needs quotation marks");
	for (i = 0; !is_pattern && i < word.bytes; i++)
		if (c->p.text[word.at + i] == '*' || c->p.text[word.at + i] == '?')
			return wrong(c, &word, ": only ~ and !~ take * and ?");
	if (word.bytes >= FKT_PROGRAM_TEXT_BYTES)
		return wrong(c, &word, " is too long: at most 31 characters");
	if (c->program->texts == FKT_PROGRAM_TEXTS)
		return wrong(c, &word, " is one name too many: at most 8");
	insn = add(c, FKT_OP_MATCH, name);
	insn->flags = is_operator(c, operator, "!=") || is_operator(c, operator, "!~") ? FKT_INSN_NOT : 0;
	insn->value = c->program->texts;
	memcpy(c->texts[c->program->texts++], c->p.text + word.at, word.bytes);
	advance(c);
	return 0;
}

static int compare(struct compiler *c)
{
	static const char *const operators[] = { "==", "!=", "<", "<=", ">", ">=", "~", "!~" };
	const struct name *name = take_name(c);
	struct fkt_kft_word operator = c->token.word;
	u32 i;

	if (!name)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(operators); i++)
		if (is_sign(c, operators[i]))
			break;
	if (i == ARRAY_SIZE(operators))
		return wrong(c, &operator, " where ==, !=, <, <=, >, >=, ~ or !~ should stand");
	/* Room for the test and a jump after it. */
	if (c->program->insns + 2 > INSNS_MOST)
		return wrong(c, &operator, ": the condition is too long");
	advance(c);
	if (c->token.kind == TOKEN_UNCLOSED)
		return wrong(c, &c->token.word, ": the quotation mark is never closed");
	return is_task(name) ? compare_task(c, name, &operator) : compare_number(c, name, &operator);
}

/* ---- the whole ---- */

/* Makes the instructions of the alternative that ends here continue at the next one, which follows. */
static void end_alternative(struct compiler *c)
{
	struct fkt_program *program = c->program;
	u32 i;

	/* Its target is set at the end. */
	program->insn[program->insns++] = (struct fkt_insn){ .op = FKT_OP_JUMP, .how = FKT_FROM_CONST };
	for (i = c->first; i + 1 < program->insns; i++)
		program->insn[i].target = program->insns;
	c->first = program->insns;
}

static int compile(struct compiler *c)
{
	bool has_alternatives = false;
	int err;

	for (;;) {
		err = compare(c);
		if (err)
			return err;
		if (c->token.kind == TOKEN_END)
			break;
		if (is_sign(c, "||")) {
			end_alternative(c);
			has_alternatives = true;
		} else if (!is_sign(c, "&&")) {
			return wrong(c, &c->token.word, " where &&, || or the end should stand");
		}
		advance(c);
	}
	if (has_alternatives)
		c->needs->shortest = 0;
	return 0;
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
		.p = { .text = text, .error = error },
		.at = trigger->condition.at,
		.end = trigger->condition.at + trigger->condition.bytes,
		.whole = trigger->condition,
		.symbol = symbol,
		.at_exit = trigger->moment == FKT_KFT_EXIT,
		.needs = needs,
		.program = program,
	};
	u32 i;

	BUILD_BUG_ON(FKT_PROGRAM_BYTES(INSNS_MOST, FKT_PROGRAM_TEXTS) > FKT_KFT_PROGRAM_BYTES);
	*needs = (struct fkt_kft_needs){};
	*program = (struct fkt_program){};
	advance(&c);
	if (compile(&c))
		return 0;
	for (i = 0; i < program->insns; i++)
		if (program->insn[i].op == FKT_OP_JUMP)
			program->insn[i].target = program->insns;
	memcpy(&program->insn[program->insns], c.texts, program->texts * FKT_PROGRAM_TEXT_BYTES);
	return FKT_PROGRAM_BYTES(program->insns, program->texts);
}
