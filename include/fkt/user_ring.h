/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How a user program and its recorder exchange events without the kernel's help: what fkt/user.h and fkt_record agree
 * on. Programs include fkt/user.h.
 *
 * The recorder listens on two sockets (SOCK_SEQPACKET). The program finds their name in its environment: a path, which
 * is also the name of the one in the abstract namespace. That one is found from every root and every mount namespace,
 * the other one from every network namespace. A thread that has its first event connects, sends one request, gets one
 * answer, and closes the connection: no descriptor stays open in the program.
 *
 *   FKT_USER_ATTACH   the answer has the descriptor of the thread's ring: shared memory whose size is sealed
 *                     (F_SEAL_SHRINK, F_SEAL_GROW), a page with struct fkt_user_ring and then `words` 64-bit words
 *   FKT_USER_DEFINE   text: what an event is; the answer has the number for it, which is the same in all programs
 *                     that are recorded together
 *   FKT_USER_ATTACH_FUNC   as FKT_USER_ATTACH: a thread may have a ring for its events, and one for the functions that
 *                     libfkt-func.so sees
 *   FKT_USER_FUNC     text: struct fkt_user_func; the answer has the number for the function, which is the same in all
 *                     programs that have it from the same file
 *
 * Ring. Only its thread writes events to it, and only the recorder takes them. The words are those of a page
 * (wire.h), of the events of layer user, TIME and LOST. `head` and `tail` count words since the beginning; head - tail
 * is at most `words`. All words from `head` on are 0. A writer reserves the words of an event by exchanging `head`, if
 * that is still what it was when the writer read the clock: a signal handler that has written an event in between makes
 * the exchange fail, and the writer begins again. No LOCK prefix is needed, because all writers are one thread. Then
 * the writer stores a mark with the event's length (FKT_USER_UNFINISHED), the words after the event word, and the event
 * word, which makes the event complete. If a thread ends in between, the reader finds zeros, or the mark, and skips
 * the event.
 *
 * The recorder does not trust the ring's memory: it copies each word before it checks and uses it.
 */
#ifndef FKT_USER_RING_H
#define FKT_USER_RING_H

#include <fkt/events.h>
#include <fkt/wire.h>

#define FKT_USER_VARIABLE "FKT_USER" /* of the environment: the sockets' name */
#define FKT_USER_VERSION 1
#define FKT_USER_MAGIC 0x55544b46U /* "FKTU" */
#define FKT_USER_NAME_BYTES 104 /* at most, of the socket's name, with a terminating zero */
#define FKT_USER_TEXT_BYTES 2048 /* at most, of a definition, without a terminating zero */
#define FKT_USER_THREAD_NAME 16 /* bytes, at most, of a thread's name, with a terminating zero */
#define FKT_USER_HEADER_BYTES 4096 /* the words' offset in the memory */
/* First word of an unfinished event, with this many words after it. No event has the id 0. */
#define FKT_USER_UNFINISHED(words) ((__u64)(words) << FKT_ARG_SHIFT)
#define FKT_USER_EVENT_NUMBERS 8192 /* events with names, at most: their number has 13 bits */

struct fkt_user_ring {
	/* Written by the recorder before the program gets the memory. */
	__u32 magic;
	__u32 version;
	__u64 words; /* a power of two */
	__u32 clock; /* enum fkt_user_clock */
	__u32 stopped; /* set to 1 when the recorder takes no more from the ring */
	/* For a ring of functions. */
	__u64 least; /* shorter calls are not recorded (ticks) */
	__u32 only_inside; /* only functions with FKT_USER_INSIDE, and what they call */
	__u32 asking; /* FKT_USER_ASKING; 0: an older recorder, which has no name for it */
	__u64 clock_offset; /* added to the program's FKT_USER_MONO: it may be in a time namespace of its own */

	/* Written by the thread. */
	__u64 head __attribute__((aligned(64)));
	__u64 lost; /* events that did not fit, since the beginning */
	__u64 gap_from; /* clock of the first event that was lost since the last LOST word */
	__u32 ended; /* the thread writes no further event */
	__u32 unasked; /* requests of the thread that did not reach the recorder, though it was there */
	__u64 too_deep; /* calls of functions that are not recorded: the thread was in too many others */
	char name[FKT_USER_THREAD_NAME]; /* the thread's, when it ended */
	__u64 ended_at; /* clock; 0: the thread did not say that it ends */

	/* Written by the recorder. */
	__u64 tail __attribute__((aligned(64)));
};

FKT_LAYOUT(sizeof(struct fkt_user_ring) == 192);

enum fkt_user_clock {
	FKT_USER_TSC = 0,
	FKT_USER_MONO = 1, /* CLOCK_MONOTONIC, in ns */
};

enum fkt_user_request {
	FKT_USER_ATTACH = 1,
	FKT_USER_DEFINE = 2,
	FKT_USER_ATTACH_FUNC = 3,
	FKT_USER_FUNC = 4,
};

/* fkt_user_answer.plain of a function. */
#define FKT_USER_INSIDE 1 /* the function is recorded, with all that it calls */
#define FKT_USER_OUTSIDE 2 /* neither the function nor what it calls is recorded */

struct fkt_user_func {
	__u64 address; /* of the function, or of what follows its call of __fentry__ */
	__u64 maps; /* changes when something else may be mapped at an address that was asked for before */
};

/* A function's calls are spans as those that programs define; their numbers follow those of events with names. */
#define FKT_USER_FIRST_FUNC FKT_USER_EVENT_NUMBERS
#define FKT_USER_FUNCS (1U << 20) /* at most */
/* The span in which a thread asks the recorder, so that its system calls are not taken for the program's. */
#define FKT_USER_ASKING (FKT_USER_FIRST_FUNC + FKT_USER_FUNCS)
#define FKT_USER_ASKING_NAME "[fkt]"

/*
 * A definition's text: kind (one letter), name and fields (as in the catalogue, with words from 1 on), with tabs
 * between them. A begin and an end of the same name have the same number.
 */
enum fkt_user_kind {
	FKT_USER_POINT = 'p',
	FKT_USER_SPAN = 's', /* of begin and end; an end has no fields */
	FKT_USER_ASYNC_FROM = 'a', /* the first field is "id"; an end belongs to the begin with the same id */
	FKT_USER_ASYNC_TO = 'z',
};

struct fkt_user_ask {
	__u32 magic;
	__u32 version;
	__u32 request;
	__u32 tid; /* the thread's, as it knows it */
	char text[FKT_USER_TEXT_BYTES]; /* only as much as there is */
};

#define FKT_USER_ASK_BYTES ((__u32)offsetof(struct fkt_user_ask, text))

struct fkt_user_answer {
	__u32 magic;
	__u32 good; /* 0: refused */
	__u32 number;
	/*
	 * 1: recorded without values, because the name was first defined with other fields. Functions:
	 * FKT_USER_*SIDE.
	 */
	__u32 plain;
};

/* Number of words after an event word of a ring; ~0: no ring has such a word. */
static inline __u32 fkt_user_words_after(__u64 word)
{
	switch (fkt_word_id(word)) {
	case FKT_W_TIME:
	case FKT_E_USER:
	case FKT_E_USER_BEGIN:
	case FKT_E_USER_END:
	case FKT_E_USER_PROBE0:
		return 0;
	case FKT_E_USER_PROBE1:
	case FKT_E_USER_PROBE2:
		return 1;
	case FKT_W_LOST:
		return FKT_LOST_WORDS;
	case FKT_E_USER_VALUES:
	case FKT_E_USER_BEGIN_VALUES:
	case FKT_E_USER_PROBE:
		return fkt_word_arg(word) & FKT_VAR_MASK;
	default:
		return ~0U;
	}
}

#endif /* FKT_USER_RING_H */
