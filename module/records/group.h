/* SPDX-License-Identifier: GPL-2.0-only */
/* Headers and macros that each group of headers needs before them. */
#include <linux/kernel.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#include "records.h"

/*
 * FKT_UNLESS_LEFT_OUT(name)(tokens) are the tokens, or nothing if the class or event is left out: then
 * FKT_LEFT_OUT_name is defined as "0, FKT_NOTHING".
 */
#define FKT_NOTHING(...)
#define FKT_TOKENS(...) __VA_ARGS__
#define FKT_SECOND(first, second, ...) second
#define FKT_CHOOSE(left_out) FKT_SECOND(left_out, FKT_TOKENS, 0)
#define FKT_UNLESS_LEFT_OUT(name) FKT_CHOOSE(FKT_LEFT_OUT_##name)

/*
 * Whether each of the arguments is passed as one word: a probe that takes 64-bit words then passes them on as they
 * came. Not defined for more than FKT_POINT_ARGUMENTS arguments.
 */
#define FKT_ARE_WORDS(args...) CONCATENATE(FKT_ARE_WORDS_, COUNT_ARGS(args))(args)
#define FKT_ARE_WORDS_1(a) (sizeof(a) <= 8)
#define FKT_ARE_WORDS_2(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_1(more))
#define FKT_ARE_WORDS_3(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_2(more))
#define FKT_ARE_WORDS_4(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_3(more))
#define FKT_ARE_WORDS_5(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_4(more))
#define FKT_ARE_WORDS_6(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_5(more))
#define FKT_ARE_WORDS_7(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_6(more))
#define FKT_ARE_WORDS_8(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_7(more))
#define FKT_ARE_WORDS_9(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_8(more))
#define FKT_ARE_WORDS_10(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_9(more))
#define FKT_ARE_WORDS_11(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_10(more))
#define FKT_ARE_WORDS_12(a, more...) (sizeof(a) <= 8 && FKT_ARE_WORDS_11(more))
