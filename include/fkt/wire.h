/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The event word and the page: the format that probes write, that files contain, and that can be found in
 * a crash dump.
 *
 * A page is a header and then 64-bit words, all little endian, up to `used` bytes:
 *
 *   63          40 39       28 27                       0
 *  +--------------+-----------+--------------------------+
 *  | argument, 24 | event, 12 | time stamp, low 28 bits  |   the event word
 *  +--------------+-----------+--------------------------+
 *  | 0..n words, as many as the catalogue says           |
 *
 * Time. The stamp is the clock's own low bits, not a difference: a probe that interrupts the code that
 * switches pages cannot know a new base yet. A reader keeps the full stamp of the previous event (at
 * the start of a page: first_clock) and takes the next value whose low 28 bits match. An event 2^28
 * ticks or more after its CPU's last one is preceded by a TIME word, which holds 52 bits.
 *
 * Pid. A page's header says which thread ran when the page began; a PID word, or a switch event
 * (from the event after it on), changes it. So the thread is known for every event.
 *
 * Order. The stamp is read between the load and the exchange of the reservation word (ring.h), so the
 * events of one CPU are in time order, however interrupts nest.
 *
 * Pairs. The begin of a call or an interrupt has an id from FKT_PAIR_ID on, which says what begins
 * (events.def, FKT_PAIR), and the argument 0. If its end is the next event on the CPU and fits, it is
 * stored in this argument, which is then never 0: one word for both events.
 *
 *   63     61 60                                   40
 *  +---------+----------------------+----------------+
 *  | split s | result, 2s + 3 bits  | ticks, 18 - 2s |
 *  +---------+----------------------+----------------+
 *
 * Counts. PID, TIME and LOST words are not events: no count of events includes them. A joined pair
 * counts as two events.
 */
#ifndef FKT_WIRE_H
#define FKT_WIRE_H

#include <fkt/crc32c.h>

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif

/* Field widths of the event word. */
#define FKT_TIME_BITS 28
#define FKT_ID_BITS 12
#define FKT_ARG_BITS 24
#define FKT_ID_SHIFT FKT_TIME_BITS
#define FKT_ARG_SHIFT (FKT_TIME_BITS + FKT_ID_BITS)
#define FKT_TIME_MASK ((1ULL << FKT_TIME_BITS) - 1)
#define FKT_ID_MASK ((1ULL << FKT_ID_BITS) - 1)
#define FKT_ARG_MASK ((1ULL << FKT_ARG_BITS) - 1)

/* Thread ids need 22 bits (the kernel's PID_MAX_LIMIT); an event may use the two bits above them. */
#define FKT_PID_BITS 22
#define FKT_PID_MASK ((1U << FKT_PID_BITS) - 1)
/* The idle tasks; in a restricted recording (without FKT_STATUS_ALL) any thread that is not recorded. */
#define FKT_PID_OTHER 0

/* Events of variable length: the argument's low bits hold the number of words that follow. */
#define FKT_VAR_BITS 10
#define FKT_VAR_MASK ((1U << FKT_VAR_BITS) - 1)
/* In events of variable length, the argument's top bit says that a string did not fit the page and was cut. */
#define FKT_VAR_CUT (1U << (FKT_ARG_BITS - 1))

/* Words that are not events. Id 0 is never written: a zero word means a damaged page. */
enum fkt_word_id {
	FKT_W_PID = 0x001, /* argument: the thread that ran at the following words */
	FKT_W_TIME = 0x002, /* full stamp: its bits 28..51 are in the argument */
	/*
	 * Two words follow: events lost on this CPU since the start; clock of the gap's first lost
	 * event. The gap ends at this word's own time.
	 */
	FKT_W_LOST = 0x003,
};
#define FKT_LOST_WORDS 2

/* The layers' bits and the event ids are defined in events.def. */

/* Ids with this bit are pairs; no other id has it. */
#define FKT_PAIR_ID 0x800
#define FKT_PAIR_SPLIT_SHIFT 21
#define FKT_PAIR_TICK_BITS(split) (18 - 2 * (split))

#define FKT_PAGE_MAGIC 0x50544b46U /* "FKTP" */
#define FKT_WIRE_VERSION 2
#define FKT_WIRE_VERSION_UNCHECKED 1 /* older files: the header ends before events_checksum */
#define FKT_USED_OPEN 0xffffffffU /* `used` of a page that is still being filled */

/*
 * First bytes of every page. Written by: F, the drain when it queues the free page; S, the probe that
 * switches to the page; C, every probe that commits in it; E, the code that closes it; D, the drain
 * before the page is written to the output.
 */
struct fkt_page_header {
	__u32 magic; /* F */
	__u32 magic_inverse; /* F: ~magic */
	__u16 version; /* F: FKT_WIRE_VERSION */
	__u16 header_bytes; /* F: offset of the first word */
	__u32 page_bytes; /* F: size of the whole page, 4096 << k */
	__u64 recording; /* F: random id of the recording */
	__u64 seq; /* F: running number of the page on its CPU, from 0 */
	__u32 events; /* C: events completely written */
	/*
	 * C: bytes completely written, including the header, and pairs joined; E subtracts what was
	 * reserved: 0 in every page that was taken from the ring (ring.h)
	 */
	__u32 commit;
	__u32 used; /* E: bytes reserved, header included; FKT_USED_OPEN until then */
	__u32 cpu; /* F */
	__u64 first_clock; /* S: full stamp of the first word (ticks) */
	__u64 end_clock; /* E: a time not before the last event (ticks) */
	__u64 lost; /* S: events lost on this CPU before this page, since the start of the recording */
	__u32 pid; /* S: the thread running at the start */
	__u32 checksum; /* D: fkt_page_checksum() */
	__u64 pfn; /* F: page frame number, to find pages in a crash dump; 0: restricted recording */
	__u32 events_checksum; /* D: fkt_events_checksum() */
	__u32 flags; /* C: FKT_PAGE_*; 0 in older files */
};

#ifdef __KERNEL__
#define FKT_LAYOUT(cond) static_assert(cond, "wire format")
#elif defined(__cplusplus)
#define FKT_LAYOUT(cond) static_assert(cond, "wire format")
#else
#define FKT_LAYOUT(cond) _Static_assert(cond, "wire format")
#endif

FKT_LAYOUT(sizeof(struct fkt_page_header) == 96);
FKT_LAYOUT(offsetof(struct fkt_page_header, recording) == 16);
FKT_LAYOUT(offsetof(struct fkt_page_header, events) == 32);
FKT_LAYOUT(offsetof(struct fkt_page_header, used) == 40);
FKT_LAYOUT(offsetof(struct fkt_page_header, first_clock) == 48);
FKT_LAYOUT(offsetof(struct fkt_page_header, checksum) == 76);
FKT_LAYOUT(offsetof(struct fkt_page_header, pfn) == 80);
FKT_LAYOUT(offsetof(struct fkt_page_header, events_checksum) == 88);

#define FKT_PAGE_HEADER_BYTES ((__u32)sizeof(struct fkt_page_header))
#define FKT_PAGE_HEADER_BYTES_UNCHECKED 88U /* with FKT_WIRE_VERSION_UNCHECKED */
/* fkt_page_header.flags: events DEFINE are in the page, which readers need before any other page. */
#define FKT_PAGE_DEFINES 0x1
/*
 * The recorder made this page when it merged the events of user programs with the kernel's (F). Until the merge ends,
 * the file also has the kernel's pages that it was made of, without this flag: man fkt-file.5.
 */
#define FKT_PAGE_JOINED 0x2
#define FKT_PAGE_MIN_BYTES 4096U
#define FKT_PAGE_MAX_BYTES (4096U << 4)

/* Builds an event word. clock: full stamp; id: 12 bits; arg: 24 bits, higher ones are dropped. */
static inline __u64 fkt_word(__u64 clock, __u32 id, __u32 arg)
{
	return (clock & FKT_TIME_MASK) | (__u64)id << FKT_ID_SHIFT | (__u64)arg << FKT_ARG_SHIFT;
}

static inline __u32 fkt_word_id(__u64 word)
{
	return (word >> FKT_ID_SHIFT) & FKT_ID_MASK;
}

static inline __u32 fkt_word_arg(__u64 word)
{
	return word >> FKT_ARG_SHIFT;
}

/* Returns the full stamp of `word`, given the full stamp of the word before it (ticks). */
static inline __u64 fkt_word_clock(__u64 word, __u64 before)
{
	return before + ((word - before) & FKT_TIME_MASK);
}

/* Returns the full stamp that a TIME word holds, given any earlier one less than 2^52 ticks before. */
static inline __u64 fkt_time_word_clock(__u64 word, __u64 before)
{
	const __u64 mask = (1ULL << (FKT_TIME_BITS + FKT_ARG_BITS)) - 1;
	__u64 low = (word & FKT_TIME_MASK) | (__u64)fkt_word_arg(word) << FKT_TIME_BITS;

	return before + ((low - before) & mask);
}

/*
 * Encodes the argument of a pair: ticks from its begin to its end, and the end's result. Returns 0 if
 * they do not fit.
 */
static inline __u32 fkt_pair_arg(__u64 ticks, __s64 value)
{
	__u64 magnitude = (__u64)(value ^ (value >> 63)) | 2;
	__u32 split = (63 - (__u32)__builtin_clzll(magnitude)) / 2;

	if (split > 7 || ticks >> FKT_PAIR_TICK_BITS(split))
		return 0;
	return ((__u32)value << FKT_PAIR_TICK_BITS(split) & ((1U << FKT_PAIR_SPLIT_SHIFT) - 1)) |
	       (__u32)ticks | split << FKT_PAIR_SPLIT_SHIFT;
}

/* Decodes a pair's ticks from begin to end. */
static inline __u32 fkt_pair_ticks(__u32 arg)
{
	return arg & ((1U << FKT_PAIR_TICK_BITS(arg >> FKT_PAIR_SPLIT_SHIFT)) - 1);
}

/* Decodes a pair's result. */
static inline __s32 fkt_pair_value(__u32 arg)
{
	__u32 bits = FKT_PAIR_TICK_BITS(arg >> FKT_PAIR_SPLIT_SHIFT);

	return (__s32)(arg << (32 - FKT_PAIR_SPLIT_SHIFT)) >> (32 - FKT_PAIR_SPLIT_SHIFT + bits);
}

/* Returns the CRC-32C of the words in use; words: the first word after the header. */
static inline __u32 fkt_events_checksum(const struct fkt_page_header *h, const void *words)
{
	return fkt_crc32c(words, (h->used - h->header_bytes) / sizeof(__u64));
}

/*
 * Returns the checksum of a page header: over all its bytes except the checksum's own, which includes
 * events_checksum (the older version does not have that field). Not cryptographic.
 */
static inline __u32 fkt_page_checksum(const struct fkt_page_header *h)
{
	const __u64 v[] = {
		h->magic | (__u64)h->magic_inverse << 32,
		h->version | (__u64)h->header_bytes << 16 | (__u64)h->page_bytes << 32,
		h->recording, h->seq, h->events | (__u64)h->commit << 32,
		h->used | (__u64)h->cpu << 32,
		h->first_clock, h->end_clock, h->lost, h->pid, h->pfn,
		h->events_checksum | (__u64)h->flags << 32,
	};
	unsigned int i, n = sizeof(v) / sizeof(v[0]) - (h->version == FKT_WIRE_VERSION_UNCHECKED);
	__u64 sum = 0x9e3779b97f4a7c15ULL;

	for (i = 0; i < n; i++) {
		sum = (sum ^ v[i]) * 0xff51afd7ed558ccdULL;
		sum ^= sum >> 32;
	}
	return (__u32)sum;
}

#endif /* FKT_WIRE_H */
