/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The parser of KFT's configurations (kft_config.h; fkt-kft(5) describes the language): the same code in the kernel and
 * in the tools. Accepts arbitrary bytes, allocates nothing, and takes time in proportion to the text, and to the square
 * of the functions in its lists.
 */
#ifndef FKT_KFT_PARSE_H
#define FKT_KFT_PARSE_H

#include <fkt/kft_words.h>
#include <fkt/kft_rules.h>

/* ---- functions ---- */

/* Returns whether the character may be in the name. kind: enum fkt_kft_function_kind. */
static inline int fkt_kft_is_of_name(char c, __u32 kind, int is_pattern)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')
		return 1;
	if (kind == FKT_KFT_MODULE)
		return c == '-';
	return c == '.' || (is_pattern && (c == '*' || c == '?'));
}

/* `0x` and 1 to 16 hexadecimal digits. */
static inline int fkt_kft_address(const struct fkt_kft_parser *p, const struct fkt_kft_word *word, __u64 *address)
{
	__u32 i;

	*address = 0;
	for (i = 2; i < word->bytes; i++) {
		const char c = p->text[word->at + i];
		const __u64 digit = c >= '0' && c <= '9' ? c - '0' :
				    c >= 'a' && c <= 'f' ? c - 'a' + 10 :
				    c >= 'A' && c <= 'F' ? c - 'A' + 10 :
							   16;

		if (digit == 16)
			return 0;
		*address = *address << 4 | digit;
	}
	return word->bytes > 2 && word->bytes <= 18;
}

/* Reads a function's name, address or module. in_list: patterns, modules and `!` are allowed. */
static inline int fkt_kft_read_function(struct fkt_kft_parser *p, const struct fkt_kft_word *word, int in_list,
					struct fkt_kft_function *function)
{
	static const char module[] = ":mod:";
	const __u32 module_bytes = sizeof(module) - 1;
	struct fkt_kft_word rest = *word;
	__u32 i;

	memset(function, 0, sizeof(*function));
	if (in_list && rest.bytes && p->text[rest.at] == '!') {
		function->is_left_out = 1;
		rest = fkt_kft_behind(rest, 1);
	}
	if (rest.bytes >= 2 && !memcmp(p->text + rest.at, "0x", 2)) {
		function->kind = FKT_KFT_ADDRESS;
		function->word = rest;
		if (fkt_kft_address(p, &rest, &function->address))
			return 1;
		return fkt_kft_wrong(p, word, " is no address: 0x and up to 16 hexadecimal digits");
	}
	if (in_list && rest.bytes > module_bytes && !memcmp(p->text + rest.at, module, module_bytes)) {
		function->kind = FKT_KFT_MODULE;
		rest = fkt_kft_behind(rest, module_bytes);
	}
	function->word = rest;
	for (i = 0; i < rest.bytes; i++)
		if (!fkt_kft_is_of_name(p->text[rest.at + i], function->kind, in_list))
			break;
	if (rest.bytes && i == rest.bytes)
		return 1;
	return fkt_kft_wrong(p, word, in_list ? " where a function should stand: a name (vfs_read), names (ext4_*), "
						"an address (0xc001d804), :mod:MODULE; with ! before it, all but it" :
						" where a function should stand: a name (vfs_read) or an address "
						"(0xc001d804)");
}

static inline int fkt_kft_one_function(struct fkt_kft_parser *p, struct fkt_kft_function *function)
{
	const struct fkt_kft_word word = fkt_kft_take(p);

	return fkt_kft_read_function(p, &word, 0, function);
}

/* Adds a function to the lists. mintime: NULL: to the list of functions. */
static inline int fkt_kft_add_function(struct fkt_kft_parser *p, const __u64 *mintime)
{
	const struct fkt_kft_word word = fkt_kft_take(p);
	struct fkt_kft_function *function = &p->config->functions[p->config->function_count];
	__u32 i;

	if (p->config->function_count == FKT_KFT_FUNCTIONS)
		return fkt_kft_wrong(p, &word, " is one function too many: all lists have at most 512");
	if (!fkt_kft_read_function(p, &word, 1, function))
		return 0;
	if (mintime && function->is_left_out)
		return fkt_kft_wrong(p, &word, " is left out, so it has no minimum of its own: drop the !");
	function->is_pattern = function->kind == FKT_KFT_MODULE;
	for (i = 0; function->kind == FKT_KFT_NAME && i < function->word.bytes; i++)
		if (p->text[function->word.at + i] == '*' || p->text[function->word.at + i] == '?')
			function->is_pattern = 1;
	function->has_mintime = mintime ? 1 : 0;
	function->mintime = mintime ? *mintime : 0;
	p->config->function_count++;
	return 1;
}

/* ---- statements ---- */

/* Takes the rest of the line as the trigger's condition, without the word `if` before it. */
static inline struct fkt_kft_word fkt_kft_take_condition(struct fkt_kft_parser *p)
{
	struct fkt_kft_word condition = fkt_kft_peek(p, 1);

	if (fkt_kft_is(p, &condition, "if")) {
		p->at += condition.bytes;
		condition = fkt_kft_peek(p, 1);
	} else if (fkt_kft_is_statement(p, &condition)) {
		condition.bytes = 0;
	}
	while (condition.bytes && condition.at + condition.bytes < p->size &&
	       p->text[condition.at + condition.bytes] != '\n' && p->text[condition.at + condition.bytes] != '#')
		condition.bytes++;
	p->at = condition.at + condition.bytes;
	while (condition.bytes && fkt_kft_is_blank(p->text[condition.at + condition.bytes - 1]))
		condition.bytes--;
	return condition;
}

static inline int fkt_kft_take_moment(struct fkt_kft_parser *p, struct fkt_kft_trigger *trigger)
{
	const struct fkt_kft_word word = fkt_kft_take(p);

	if (fkt_kft_is(p, &word, "time")) {
		trigger->moment = FKT_KFT_TIME;
		return fkt_kft_time(p, &trigger->time);
	}
	if (!fkt_kft_is(p, &word, "entry") && !fkt_kft_is(p, &word, "exit"))
		return fkt_kft_wrong(p, &word, " where \"entry\", \"exit\" or \"time\" should stand");
	trigger->moment = fkt_kft_is(p, &word, "entry") ? FKT_KFT_ENTRY : FKT_KFT_EXIT;
	if (!fkt_kft_one_function(p, &trigger->function))
		return 0;
	trigger->condition = fkt_kft_take_condition(p);
	return 1;
}

static inline int fkt_kft_take_trigger(struct fkt_kft_parser *p)
{
	const struct fkt_kft_word word = fkt_kft_take(p);
	const int is_start = fkt_kft_is(p, &word, "start");

	if (!is_start && !fkt_kft_is(p, &word, "stop"))
		return fkt_kft_wrong(p, &word, " where \"start\" or \"stop\" should stand");
	return fkt_kft_once(p, is_start ? FKT_KFT_START : FKT_KFT_STOP, &word) &&
	       fkt_kft_take_moment(p, is_start ? &p->config->start : &p->config->stop);
}

/* Takes `prime`, alone or with the moment at which the recording is primed. */
static inline int fkt_kft_take_prime(struct fkt_kft_parser *p, const struct fkt_kft_word *said)
{
	struct fkt_kft_word word;

	if (!fkt_kft_once(p, FKT_KFT_PRIME, said))
		return 0;
	word = fkt_kft_peek(p, 1);
	p->config->prime.moment = FKT_KFT_NOW;
	return !word.bytes || fkt_kft_is_statement(p, &word) || fkt_kft_take_moment(p, &p->config->prime);
}

/* Takes `funclist F... fend`; a statement, or the end of the text, ends the list too. */
static inline int fkt_kft_take_list(struct fkt_kft_parser *p)
{
	struct fkt_kft_word word = fkt_kft_peek(p, 0);
	const __u32 before = p->config->function_count;
	int keeps = 0;
	__u32 i;

	while (word.bytes && !fkt_kft_is(p, &word, "fend") && !fkt_kft_is_statement(p, &word)) {
		if (!fkt_kft_add_function(p, NULL))
			return 0;
		word = fkt_kft_peek(p, 0);
	}
	if (p->config->function_count == before)
		return fkt_kft_wrong(p, &word, " where the first function of the list should stand");
	for (i = before; i < p->config->function_count; i++)
		keeps |= !p->config->functions[i].is_left_out;
	if (!keeps)
		return fkt_kft_wrong(p, &p->config->functions[before].word,
				     " and all others are left out: write \"*\" before them for all but these");
	if (fkt_kft_is(p, &word, "fend"))
		p->at += word.bytes;
	return 1;
}

/* `mintime TIME`, or `mintime TIME F...` on one line. */
static inline int fkt_kft_take_mintime(struct fkt_kft_parser *p, const struct fkt_kft_word *said)
{
	struct fkt_kft_word word;
	__u64 ns = 0;

	if (!fkt_kft_time(p, &ns))
		return 0;
	word = fkt_kft_peek(p, 1);
	if (!word.bytes || fkt_kft_is_statement(p, &word)) {
		p->config->mintime = ns;
		return fkt_kft_once(p, FKT_KFT_MINTIME, said);
	}
	if (!fkt_kft_says(p->config, FKT_KFT_OWN_MINTIMES))
		p->config->said[FKT_KFT_OWN_MINTIMES] = *said;
	for (; word.bytes && !fkt_kft_is_statement(p, &word); word = fkt_kft_peek(p, 1))
		if (!fkt_kft_add_function(p, &ns))
			return 0;
	return 1;
}

/* `keep children`, to a depth, with a share of the time, or both. */
static inline int fkt_kft_take_keep(struct fkt_kft_parser *p)
{
	const struct fkt_kft_word children = fkt_kft_take(p);
	struct fkt_kft_word word;

	if (!fkt_kft_is(p, &children, "children"))
		return fkt_kft_wrong(p, &children, " where \"children\" should stand");
	for (word = fkt_kft_peek(p, 1); word.bytes && !fkt_kft_is_statement(p, &word); word = fkt_kft_peek(p, 1)) {
		__u64 number, *to;
		const __u32 digits = fkt_kft_digits(p, &word, 1000, &number);
		const struct fkt_kft_word rest = fkt_kft_behind(word, digits);

		to = rest.bytes ? &p->config->keep_percent : &p->config->keep_depth;
		if (!digits || !number || *to || (rest.bytes && (!fkt_kft_is(p, &rest, "%") || number > 100)))
			return fkt_kft_wrong(p, &word, " where how many calls deep (3), or the least share of the time "
						       "(10%), should stand");
		*to = number;
		p->at += word.bytes;
	}
	return 1;
}

/* Takes the name: printable characters without quotation marks, which expressions put around it. */
static inline int fkt_kft_take_task(struct fkt_kft_parser *p)
{
	const __u32 most = 15; /* bytes that the kernel keeps of it */
	const struct fkt_kft_word word = fkt_kft_take(p);
	__u32 i = 0;

	p->config->task = word;
	while (i < word.bytes && p->text[word.at + i] > ' ' && p->text[word.at + i] <= '~' &&
	       p->text[word.at + i] != '"' && p->text[word.at + i] != '\\')
		i++;
	if (i && i == word.bytes && i <= most)
		return 1;
	return fkt_kft_wrong(p, &word, " where a task's name should stand: up to 15 characters, as in ps");
}

static inline int fkt_kft_filter_value(struct fkt_kft_parser *p, enum fkt_kft_key key)
{
	struct fkt_kft_config *config = p->config;

	switch (key) {
	case FKT_KFT_MAXTIME:
		return fkt_kft_time(p, &config->maxtime);
	case FKT_KFT_FUNCLIST:
		return fkt_kft_take_list(p);
	case FKT_KFT_CALLER:
		return fkt_kft_one_function(p, &config->caller);
	case FKT_KFT_KEEP:
		return fkt_kft_take_keep(p);
	case FKT_KFT_TASK:
		return fkt_kft_take_task(p);
	case FKT_KFT_DEPTH:
		return fkt_kft_number(p, 1000, &config->depth, " where a depth should stand: up to 1000 calls");
	case FKT_KFT_CPU:
		return fkt_kft_number(p, 8191, &config->cpu, " where a CPU's number should stand");
	case FKT_KFT_UID:
		return fkt_kft_number(p, 4294967294U, &config->uid, " where a user's number should stand");
	case FKT_KFT_CGROUP:
		return fkt_kft_number(p, 1000000000000000000ULL, &config->cgroup,
				      " where a cgroup's number should stand: its directory's inode (stat -c %i)");
	default:
		return 1; /* without a value */
	}
}

static inline int fkt_kft_take_filter(struct fkt_kft_parser *p)
{
	static const struct {
		const char *name;
		enum fkt_kft_key key;
	} filters[] = {
		{ "maxtime", FKT_KFT_MAXTIME }, { "noints", FKT_KFT_NOINTS }, { "onlyints", FKT_KFT_ONLYINTS },
		{ "funclist", FKT_KFT_FUNCLIST }, { "caller", FKT_KFT_CALLER }, { "depth", FKT_KFT_DEPTH },
		{ "keep", FKT_KFT_KEEP }, { "cpu", FKT_KFT_CPU }, { "task", FKT_KFT_TASK }, { "uid", FKT_KFT_UID },
		{ "cgroup", FKT_KFT_CGROUP }, { "cputime", FKT_KFT_CPUTIME },
	};
	const struct fkt_kft_word word = fkt_kft_take(p);
	__u32 i;

	if (fkt_kft_is(p, &word, "mintime"))
		return fkt_kft_take_mintime(p, &word);
	for (i = 0; i < sizeof(filters) / sizeof(*filters); i++)
		if (fkt_kft_is(p, &word, filters[i].name))
			return fkt_kft_once(p, filters[i].key, &word) && fkt_kft_filter_value(p, filters[i].key);
	return fkt_kft_wrong(p, &word, " where a filter should stand: mintime, maxtime, noints, onlyints, funclist, "
				       "caller, depth, keep, cpu, task, uid, cgroup or cputime");
}

static inline int fkt_kft_take_watch(struct fkt_kft_parser *p)
{
	const struct fkt_kft_word word = fkt_kft_take(p);

	p->config->is_worst_stack = fkt_kft_is(p, &word, "worst-stack");
	if (!p->config->is_worst_stack && !fkt_kft_is(p, &word, "stack"))
		return fkt_kft_wrong(p, &word, " where \"stack\" or \"worst-stack\" should stand");
	return fkt_kft_once(p, FKT_KFT_WATCH, &word) &&
	       fkt_kft_number(p, 1 << 20, &p->config->stack, " where the bytes of stack left should stand (500)");
}

/* A statement that begins with this word. */
static inline int fkt_kft_take_statement(struct fkt_kft_parser *p, const struct fkt_kft_word *word)
{
	if (fkt_kft_is(p, word, "trigger"))
		return fkt_kft_take_trigger(p);
	if (fkt_kft_is(p, word, "filter"))
		return fkt_kft_take_filter(p);
	if (fkt_kft_is(p, word, "watch"))
		return fkt_kft_take_watch(p);
	if (fkt_kft_is(p, word, "prime"))
		return fkt_kft_take_prime(p, word);
	if (fkt_kft_is(p, word, "keep"))
		return fkt_kft_once(p, FKT_KFT_KEEP, word) && fkt_kft_take_keep(p);
	if (fkt_kft_is(p, word, "autorepeat"))
		return fkt_kft_once(p, FKT_KFT_AUTOREPEAT, word);
	if (fkt_kft_is(p, word, "overwrite"))
		return fkt_kft_once(p, FKT_KFT_OVERWRITE, word);
	if (fkt_kft_is(p, word, "untimed"))
		return fkt_kft_once(p, FKT_KFT_UNTIMED, word);
	if (fkt_kft_is(p, word, "logentries"))
		return fkt_kft_once(p, FKT_KFT_LOGENTRIES, word) &&
		       fkt_kft_number(p, 1000000000000ULL, &p->config->logentries,
				      " where the number of entries should stand");
	return fkt_kft_wrong(p, word, " where a statement should begin: trigger, filter, watch, keep, "
				      "logentries, autorepeat, overwrite, untimed, prime or end");
}

/* ---- the whole ---- */

static inline int fkt_kft_contradicts(struct fkt_kft_parser *p, enum fkt_kft_key key, const char *what)
{
	return !fkt_kft_wrong(p, &p->config->said[key], what);
}

/* Returns whether a statement's value leaves nothing to record. */
static inline int fkt_kft_is_empty(struct fkt_kft_parser *p)
{
	const struct fkt_kft_config *config = p->config;

	if (fkt_kft_says(config, FKT_KFT_DEPTH) && !config->depth)
		return fkt_kft_contradicts(p, FKT_KFT_DEPTH, " 0 leaves nothing; depth 1 keeps the outermost calls");
	if (fkt_kft_says(config, FKT_KFT_LOGENTRIES) && !config->logentries)
		return fkt_kft_contradicts(p, FKT_KFT_LOGENTRIES, " 0 leaves no room for any call");
	if (fkt_kft_says(config, FKT_KFT_WATCH) && !config->stack)
		return fkt_kft_contradicts(p, FKT_KFT_WATCH, " 0 watches nothing: less than 0 bytes are never left");
	if (config->stop.moment == FKT_KFT_TIME && !config->stop.time)
		return fkt_kft_contradicts(p, FKT_KFT_STOP, " after no time: it would end before it begins");
	return 0;
}

/* Returns whether a statement about the times of calls contradicts another statement. */
static inline int fkt_kft_times_contradict(struct fkt_kft_parser *p)
{
	const struct fkt_kft_config *config = p->config;
	const int is_timed = config->mintime || config->maxtime || fkt_kft_says(config, FKT_KFT_OWN_MINTIMES);

	if (config->maxtime && config->mintime > config->maxtime)
		return fkt_kft_contradicts(p, FKT_KFT_MAXTIME, " is less than mintime: no call would be recorded");
	if (fkt_kft_says(config, FKT_KFT_UNTIMED) &&
	    (is_timed || fkt_kft_says(config, FKT_KFT_CPUTIME) || fkt_kft_says(config, FKT_KFT_KEEP)))
		return fkt_kft_contradicts(p, FKT_KFT_UNTIMED,
					   ": entries and exits have no duration; drop it, or the filters of time");
	if (fkt_kft_says(config, FKT_KFT_UNTIMED) && fkt_kft_says(config, FKT_KFT_DEPTH))
		return fkt_kft_contradicts(p, FKT_KFT_DEPTH,
					   " cannot be done with \"untimed\": entries do not know their depth");
	if (fkt_kft_says(config, FKT_KFT_UNTIMED) && fkt_kft_says(config, FKT_KFT_CALLER))
		return fkt_kft_contradicts(p, FKT_KFT_CALLER,
					   " cannot be done with \"untimed\": the caller's own entry is seen before it "
					   "is known");
	if (fkt_kft_says(config, FKT_KFT_CPUTIME) && !is_timed)
		return fkt_kft_contradicts(p, FKT_KFT_CPUTIME,
					   " says what mintime and maxtime are of: write one of them");
	if (fkt_kft_says(config, FKT_KFT_KEEP) && !is_timed)
		return fkt_kft_contradicts(p, FKT_KFT_KEEP,
					   " children is for slow calls: write which they are (filter mintime)");
	return 0;
}

/* Returns whether two statements contradict each other. */
static inline int fkt_kft_is_contradiction(struct fkt_kft_parser *p)
{
	const struct fkt_kft_config *config = p->config;
	const int repeats = fkt_kft_says(config, FKT_KFT_AUTOREPEAT);

	if (fkt_kft_is_empty(p) || fkt_kft_times_contradict(p))
		return 1;
	if (fkt_kft_says(config, FKT_KFT_NOINTS) && fkt_kft_says(config, FKT_KFT_ONLYINTS))
		return fkt_kft_contradicts(p, FKT_KFT_ONLYINTS, ": with noints nothing is left; keep one of the two");
	if (repeats && !config->stop.moment)
		return fkt_kft_contradicts(p, FKT_KFT_AUTOREPEAT, ": nothing ends the first run; write a trigger stop");
	if (repeats && (!fkt_kft_is_by_hit(&config->start) || !fkt_kft_is_by_hit(&config->stop)))
		return fkt_kft_contradicts(p, FKT_KFT_AUTOREPEAT,
					   " needs a trigger start and a trigger stop by entry or exit");
	if (fkt_kft_is_by_hit(&config->prime) && config->start.moment == FKT_KFT_TIME)
		return fkt_kft_contradicts(p, FKT_KFT_PRIME,
					   " by entry or exit needs a trigger start by entry or exit, or none: it may come "
					   "later than a time");
	if (repeats && fkt_kft_says(config, FKT_KFT_KEEP))
		return fkt_kft_contradicts(p, FKT_KFT_KEEP,
					   " children cannot be done with \"autorepeat\": a call may be in a run, and "
					   "what it has called not");
	return 0;
}

/*
 * Parses a configuration of `size` bytes. Returns 1; or 0, and sets the error, which says line and column, what is
 * wrong there, and what would be right.
 */
static inline int fkt_kft_parse(const char *text, __u32 size, struct fkt_kft_config *config,
				struct fkt_kft_error *error)
{
	struct fkt_kft_parser p = { text, size, 0, 1, 0, config, error };
	struct fkt_kft_word word = { 0, 0, 1, 1 };

	memset(config, 0, offsetof(struct fkt_kft_config, functions));
	memset(error, 0, sizeof(*error));
	if (size > FKT_KFT_TEXT_BYTES)
		return fkt_kft_wrong(&p, &word, " comes too late: a configuration has at most 65536 bytes");
	word = fkt_kft_take(&p);
	if (!word.bytes)
		return fkt_kft_wrong(&p, &word, " where a configuration should begin (trigger, filter, ...)");
	if (fkt_kft_is(&p, &word, "new"))
		word = fkt_kft_take(&p);
	if (fkt_kft_is(&p, &word, "begin"))
		word = fkt_kft_take(&p);
	for (; word.bytes && !fkt_kft_is(&p, &word, "end"); word = fkt_kft_take(&p))
		if (!fkt_kft_take_statement(&p, &word))
			return 0;
	word = fkt_kft_take(&p);
	if (word.bytes)
		return fkt_kft_wrong(&p, &word, " stands behind the end: a file has one configuration");
	if (fkt_kft_is_contradiction(&p))
		return 0;
	fkt_kft_order_groups(config);
	return 1;
}

#endif /* FKT_KFT_PARSE_H */
