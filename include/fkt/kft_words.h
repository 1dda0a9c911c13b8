/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Words, numbers and times of KFT configurations, and the messages about wrong ones: the lower part of kft_parse.h,
 * which like it accepts arbitrary bytes and allocates nothing.
 */
#ifndef FKT_KFT_WORDS_H
#define FKT_KFT_WORDS_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/string.h>
#else
#include <stddef.h>
#include <string.h>
#endif

#include <fkt/kft_config.h>

struct fkt_kft_parser {
	const char *text;
	__u32 size;
	__u32 at; /* behind the word that was taken last */
	__u32 line, line_begin; /* of `at` */
	struct fkt_kft_config *config;
	struct fkt_kft_error *error;
};

/* ---- messages ---- */

/* Appends to the message; what it has no room for is left out. */
static inline void fkt_kft_say(struct fkt_kft_error *error, const char *text, __u32 bytes)
{
	__u32 used = strlen(error->message), i;

	for (i = 0; i < bytes && used < FKT_KFT_ERROR_BYTES - 1; i++) {
		/* Messages go to terminals. */
		error->message[used++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	}
	error->message[used] = 0;
}

/* Sets the error: the word in quotation marks, or "the end" if it is empty, and then `what`. Returns 0. */
static inline int fkt_kft_wrong(struct fkt_kft_parser *p, const struct fkt_kft_word *word, const char *what)
{
	struct fkt_kft_error *error = p->error;
	const __u32 most = 60;

	error->line = word->line;
	error->column = word->column;
	error->message[0] = 0;
	if (word->bytes) {
		fkt_kft_say(error, "\"", 1);
		fkt_kft_say(error, p->text + word->at, word->bytes < most ? word->bytes : most);
		fkt_kft_say(error, word->bytes < most ? "\"" : "...\"", word->bytes < most ? 1 : 4);
	} else {
		fkt_kft_say(error, "the end", 7);
	}
	fkt_kft_say(error, what, strlen(what));
	return 0;
}

/* ---- words ---- */

static inline int fkt_kft_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f' || !c;
}

/* Goes to the next word. Returns 0 at the end of the text, and if `same_line`, at the end of the line. */
static inline int fkt_kft_skip(struct fkt_kft_parser *p, int same_line)
{
	for (; p->at < p->size; p->at++) {
		if (p->text[p->at] == '#') {
			while (p->at < p->size && p->text[p->at] != '\n')
				p->at++;
			if (p->at == p->size)
				return 0;
		}
		if (!fkt_kft_is_blank(p->text[p->at]))
			return 1;
		if (p->text[p->at] != '\n')
			continue;
		if (same_line)
			return 0;
		p->line++;
		p->line_begin = p->at + 1;
	}
	return 0;
}

/* Returns the next word without taking it; it has no bytes at the end. */
static inline struct fkt_kft_word fkt_kft_peek(struct fkt_kft_parser *p, int same_line)
{
	const int is_there = fkt_kft_skip(p, same_line);
	struct fkt_kft_word word = { p->at, 0, p->line, p->at - p->line_begin + 1 };

	while (is_there && word.at + word.bytes < p->size && !fkt_kft_is_blank(p->text[word.at + word.bytes]) &&
	       p->text[word.at + word.bytes] != '#')
		word.bytes++;
	return word;
}

static inline struct fkt_kft_word fkt_kft_take(struct fkt_kft_parser *p)
{
	const struct fkt_kft_word word = fkt_kft_peek(p, 0);

	p->at += word.bytes;
	return word;
}

/* The word without its first bytes. */
static inline struct fkt_kft_word fkt_kft_behind(struct fkt_kft_word word, __u32 bytes)
{
	word.at += bytes;
	word.column += bytes;
	word.bytes -= bytes;
	return word;
}

static inline int fkt_kft_is(const struct fkt_kft_parser *p, const struct fkt_kft_word *word, const char *text)
{
	return word->bytes == strlen(text) && !memcmp(p->text + word->at, text, word->bytes);
}

/* Returns whether the word begins a statement or ends the block: either ends a list of functions. */
static inline int fkt_kft_is_statement(const struct fkt_kft_parser *p, const struct fkt_kft_word *word)
{
	static const char *const words[] = { "trigger", "filter", "watch", "logentries", "autorepeat", "overwrite",
					     "untimed", "prime", "keep", "new", "begin", "end" };
	__u32 i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (fkt_kft_is(p, word, words[i]))
			return 1;
	return 0;
}

/* Stores the statement's place. Returns 0 and sets the error if the configuration has it already. */
static inline int fkt_kft_once(struct fkt_kft_parser *p, enum fkt_kft_key key, const struct fkt_kft_word *word)
{
	if (fkt_kft_says(p->config, key))
		return fkt_kft_wrong(p, word, " is said a second time: one of the two must go");
	p->config->said[key] = *word;
	return 1;
}

/* ---- numbers ---- */

/*
 * Reads the digits at the word's begin. Returns how many they are; 0: none, or the number is larger than `most`, which
 * is at most 10^18.
 */
static inline __u32 fkt_kft_digits(const struct fkt_kft_parser *p, const struct fkt_kft_word *word, __u64 most,
				   __u64 *number)
{
	__u32 i;

	*number = 0;
	for (i = 0; i < word->bytes && p->text[word->at + i] >= '0' && p->text[word->at + i] <= '9'; i++) {
		*number = *number * 10 + (p->text[word->at + i] - '0');
		if (*number > most)
			return 0;
	}
	return i;
}

/* wrong: what to say behind the word. */
static inline int fkt_kft_number(struct fkt_kft_parser *p, __u64 most, __u64 *number, const char *wrong)
{
	const struct fkt_kft_word word = fkt_kft_take(p);
	const __u32 digits = fkt_kft_digits(p, &word, most, number);

	return digits && digits == word.bytes ? 1 : fkt_kft_wrong(p, &word, wrong);
}

/* A time: microseconds, or a number with its unit. */
static inline int fkt_kft_time(struct fkt_kft_parser *p, __u64 *ns)
{
	static const struct {
		const char *name;
		__u64 ns;
	} units[] = { { "", 1000 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { "ns", 1 } };
	const struct fkt_kft_word word = fkt_kft_take(p);
	const __u64 most = 1000000000000000000ULL; /* ns: 31 years */
	__u64 number;
	const __u32 digits = fkt_kft_digits(p, &word, most, &number);
	const struct fkt_kft_word unit = fkt_kft_behind(word, digits);
	__u32 i;

	for (i = 0; digits && i < sizeof(units) / sizeof(*units); i++) {
		if (!fkt_kft_is(p, &unit, units[i].name))
			continue;
		if (number > most / units[i].ns)
			break;
		*ns = number * units[i].ns;
		return 1;
	}
	return fkt_kft_wrong(p, &word,
			     " where a time should stand: whole microseconds (500), or with a unit (100us, 2ms, 5s)");
}

#endif /* FKT_KFT_WORDS_H */
