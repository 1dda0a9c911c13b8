/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The numbers of functions, which fkt_record gives (fkt/user_ring.h): a process asks once for each function, and keeps
 * the answer in a table that all its threads read without a lock. Part of func.c.
 */
#ifndef FKT_FUNC_NUMBERS_H
#define FKT_FUNC_NUMBERS_H

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

#include <fkt/user.h>

/* An answer: the function's number, 0 if it has no events; above it FKT_USER_INSIDE, ...; and that there is an answer. */
#define ANSWER_NUMBER_BITS 24
#define ANSWER_GIVEN (1U << 31)

static inline uint32_t answer_number(uint32_t answer)
{
	return answer & ((1U << ANSWER_NUMBER_BITS) - 1);
}

static inline uint32_t answer_rules(uint32_t answer)
{
	return answer >> ANSWER_NUMBER_BITS & (FKT_USER_INSIDE | FKT_USER_OUTSIDE);
}

#define TABLE_BITS 20
#define TABLE_MASK ((1U << TABLE_BITS) - 1)

/* Never changed: all of the table becomes zeros when a library is unloaded. */
struct known {
	uint64_t function; /* address; 0: free */
	uint64_t answer;
} __attribute__((aligned(16)));

/* Memory that is not touched takes none. */
static struct known known_functions[1 << TABLE_BITS] __attribute__((aligned(4096)));

/* What is at an address may be another function when this has another value (struct fkt_user_func). */
static uint64_t maps;

static inline uint32_t place_of(uint64_t function)
{
	/*
	 * Functions that are near each other are so here; few are shorter than 16 bytes. The program and its libraries
	 * have the same low bits.
	 */
	return (uint32_t)(function >> 4 ^ function >> 24) & TABLE_MASK;
}

/* Returns the answer if this process has asked for the function, else 0. */
static inline uint32_t find_answer(uint64_t function)
{
	uint32_t i = place_of(function), tries;

	for (tries = 0; tries <= TABLE_MASK; tries++, i = (i + 1) & TABLE_MASK) {
		const uint64_t here = __atomic_load_n(&known_functions[i].function, __ATOMIC_RELAXED);

		/* Both words were written by one instruction. */
		if (__builtin_expect(here == function, 1))
			return (uint32_t)__atomic_load_n(&known_functions[i].answer, __ATOMIC_RELAXED);
		if (!here)
			break;
	}
	return 0;
}

/* A process that dies, forks or is interrupted in the middle leaves nothing half done. */
static void keep_answer(uint64_t function, uint32_t answer)
{
	const unsigned __int128 made = (unsigned __int128)answer << 64 | function;
	uint32_t i = place_of(function), tries;

	for (tries = 0; tries <= TABLE_MASK; tries++, i = (i + 1) & TABLE_MASK) {
		const uint64_t here = __atomic_load_n(&known_functions[i].function, __ATOMIC_RELAXED);

		if (here == function ||
		    (!here && __sync_bool_compare_and_swap((unsigned __int128 *)&known_functions[i], 0, made)))
			return;
	}
}

/* Asks for a function. Returns an answer in all cases. No handler may run in this thread meanwhile. */
static uint32_t ask_for_function(uint64_t function)
{
	struct fkt_user_func text = { function, __atomic_load_n(&maps, __ATOMIC_RELAXED) };
	uint32_t made = ANSWER_GIVEN;
	struct fkt_user_answer answer;
	struct fkt_user_ask ask;
	int fd = -1;

	ask.magic = FKT_USER_MAGIC;
	ask.version = FKT_USER_VERSION;
	ask.request = FKT_USER_FUNC;
	ask.tid = 0;
	memcpy(ask.text, &text, sizeof(text));
	if (!fkt_user_ask(&ask, FKT_USER_ASK_BYTES + sizeof(text), &answer, &fd))
		made |= answer_number(answer.number) |
			(answer.plain & (FKT_USER_INSIDE | FKT_USER_OUTSIDE)) << ANSWER_NUMBER_BITS;
	if (fd >= 0)
		close(fd);
	keep_answer(function, made);
	return made;
}

/* Libraries were unloaded: the next ones may be where they were. */
static void forget_functions(void)
{
	__atomic_fetch_add(&maps, 1, __ATOMIC_RELAXED);
	madvise(known_functions, sizeof(known_functions), MADV_DONTNEED);
}

static void begin_numbers(void)
{
	struct timespec now;

	/* exec gives the process other maps: its program begins with another number. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	maps = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif /* FKT_FUNC_NUMBERS_H */
