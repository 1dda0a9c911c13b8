/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The ring buffer of one CPU: its data, and the protocol between the probes that write events into it
 * and the drain that takes its pages. The probes' side (reserving space, writing and committing events,
 * switching pages) is in ring_write.h; the drain's side (taking complete pages, queueing free ones) is in
 * ring_drain.h. The kernel module, the unit tests and the benchmarks compile this same code.
 *
 * Pages rotate. The slot table is a queue of page pointers, indexed
 * by running numbers that only grow:
 *
 *      tail               run                limit
 *       |                  |                  |
 *   ... [full ][full ][full][open ][free ][free ] ...
 *
 * The drain takes complete pages at `tail` and queues free ones at `limit`; probes write in page
 * `run` and advance to the next page when it is full. One 64-bit reservation word holds the running
 * number of the open page and the offset in it, so one compare-and-exchange moves both. It needs no
 * LOCK prefix: only this CPU writes the word, and only an interrupt or an NMI on this CPU can come
 * between reading it and exchanging it.
 *
 *   probe (this CPU)                            drain (any CPU)
 *     load word, read clock                       A' store slot, store-release limit
 *     A  load-acquire limit (page switch only)
 *     exchange word: the slot is ours             C' load-acquire used
 *     write the event                             B' load-acquire commit: down to 0?
 *     B  add to commit                               then read the page, recycle it
 *     C  take used off commit, store-release used (page switch only)
 *
 * A pairs with A': a probe that sees the new limit sees the slot's page and its fresh header.
 * B pairs with B': the add follows the event's stores in program order, and x86 keeps stores in
 *   order; a drain that sees all bytes committed sees all events. In user space the add is a release.
 * C pairs with C': `used` is published after the last reservation in the page, and after `used` was
 *   subtracted from the commit count. While the page is open, the count rises from 0; from the close on
 *   it is committed - used, which reaches 0 once and stays 0, because no later event can enter that page.
 *   In an open page the count may be 0 too, so the drain checks `used` first.
 *
 * Nesting. A probe that is interrupted between its exchange and its add leaves the page incomplete
 * until it runs again; the commit count detects that. The context that brings the count to 0 (the one
 * that closes the page, or the probe that commits last) calls fkt_ring_wake(). A probe needs no load to
 * find out: the add instruction sets the zero flag.
 * `last_clock` and `last_pid` are read before the exchange and stored after it. Nesting can make
 * them too old, never too new: then a TIME or PID word is written that was not needed. A switch
 * event, after which the reader expects another pid, sets last_pid to FKT_PID_NONE before its exchange,
 * and afterwards stores the new pid only if last_pid is still FKT_PID_NONE.
 *
 * No free page: the open page is closed at once and the word marked GAP, so that no smaller event is
 * written after the gap began; from then on events are counted in `lost`. The first event that finds a
 * free page opens it with a LOST word in the same reservation. Probes never wait, and no page is
 * overwritten before the drain has taken it. An event that is interrupted before it is counted may be
 * counted after the gap has ended: then the header of the next page includes it, or, if no page
 * follows, the ring's count after the stop.
 *
 * A clock that steps back. Readers take an event's stamp as the next value with these low bits, so one
 * tick back would read as nearly 2^28 ticks forward. An event whose reading is earlier than the last
 * event, the last closed page's end or the gap's begin gets the latest of these as its stamp, and is
 * counted in `clock_back`. (One case is not detected: the clock steps back right after an event that
 * interrupted another event between that one's exchange and its store of last_clock. That store then
 * leaves last_clock too old.)
 *
 * Pairs. An end event whose begin is the last event of its page, and of this CPU, is stored in the
 * begin's word ("joined"). A join is a reservation of 0 bytes: the exchange increments the joins field of
 * the reservation word, so it fails if another context has reserved, joined or closed in between, and
 * any later reservation has a later stamp. The commit count covers the word's whole lower half, bytes
 * and joins, so a page with an uncommitted join is not complete. pair[kind] is the reservation word as
 * the last begin of that kind left it. No other reservation leaves the same word, so while the
 * reservation word equals pair[kind], the last event is this begin, it is completely written, and
 * last_clock is not later than the begin.
 *
 * Open page. fkt_ring_try_reserve() takes its address from open_page. If the word is of an open page and stays the
 * same until the exchange, this is the page or one of none[]; if the word is of a closed page, it is one of none[],
 * because the page's memory may have been freed and reused. A context that opens a page stores the address of
 * FKT_RING_OPENING before the exchange, and replaces it by the page's after it, if it is still there. A context that
 * closes the page, or whose exchange to open one fails, leaves FKT_RING_NOWHERE (the latter only in place of
 * FKT_RING_OPENING). So an interrupt never leaves its own FKT_RING_OPENING behind: when it returns, open_page is the
 * address of a page, FKT_RING_NOWHERE, or the FKT_RING_OPENING that the interrupted context has stored, if no page was
 * opened or closed since then. If FKT_RING_NOWHERE stays though a page is open, the other functions write its events.
 */
#ifndef FKT_RING_H
#define FKT_RING_H

#include <fkt/events.h>
#include <fkt/wire.h>

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/string.h>
#include <asm/barrier.h>
#else
#include <string.h>
typedef __u64 u64;
typedef __u32 u32;
typedef __s64 s64;
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define noinline __attribute__((noinline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
/* Reads memory that another context may reuse at the same time; the caller detects that and drops the value. */
#define READ_ONCE_NOCHECK(x) fkt_read_unchecked(&(x))
static noinline __attribute__((unused, no_sanitize_thread)) u64 fkt_read_unchecked(const u64 *p)
{
	return *(const volatile u64 *)p;
}
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#endif

#include <fkt/ring_local.h>

/*
 * The lower half of the reservation word: bytes reserved in the page, and above them the number of
 * joined pairs. Two offsets above the largest page size are states (CLOSED, GAP), which have no bytes
 * and no joins.
 */
#define FKT_RING_OFFSET_MASK 0xffffU
#define FKT_RING_JOIN 0x10000U
#define FKT_RING_PAGE_MAX_BYTES 0x4000U
#define FKT_RING_CLOSED 0x8000U /* the page is closed, no event fits */
#define FKT_RING_GAP 0x9000U /* the page is closed, and events are being lost */
/* Indexes in none[]: states of open_page without a page. */
#define FKT_RING_NOWHERE 0
#define FKT_RING_OPENING 1
#define FKT_PID_NONE 0xffffffffU /* last_pid: unknown, so the next event writes a PID word */
/*
 * last_pid after an event of one of FKT's own threads: fkt_ring_try_reserve() fails for it, so that the functions which
 * test FKT_FLAG_NOT_SELF are used. As after FKT_PID_NONE, the next event writes a PID word.
 */
#define FKT_PID_APART 0xfffffffeU
#define FKT_LINE_BYTES 64

struct fkt_ring {
	/* Written by this CPU's probes only. */
	u64 word; /* running number << 32 | joins << 16 | offset (bytes), or FKT_RING_CLOSED, _GAP */
	u64 last_clock; /* stamp of the last event, or of the page's end if it was closed since (ticks) */
	u64 open_page; /* address of the open page, or of none[] so that it seems to have no room (see above) */
	u32 last_pid;
	u32 page_bytes; /* constant while recording, like slot_mask and batch */
	struct fkt_page_header **slots;
	u32 slot_mask; /* slots - 1, slots a power of two */
	u32 batch; /* wake the drain when this many pages are complete */
	u64 lost; /* events not written since the start */
	u64 keeps_gap; /* constant while recording: a gap lasts until the end, even if pages become free */
	u64 gap_from; /* clock of the current gap's first lost event; only grows */
	u64 clock_back; /* events whose clock had stepped back, since the start */
	u64 pair[FKT_PAIR_KINDS]; /* `word` right after the last begin of each kind that can be joined */
	u32 none[2]; /* zeros */

	/* Written by the drain only. */
	u32 limit __attribute__((aligned(FKT_LINE_BYTES))); /* first running number without a page */
	u32 tail; /* running number of the oldest page that was not taken */
	u64 seq_high; /* upper half of the running number of `limit` */
};

static __always_inline u64 fkt_ring_word(u32 run, u32 offset)
{
	return (u64)run << 32 | offset;
}

static __always_inline u32 fkt_ring_offset(u64 word)
{
	return word & FKT_RING_OFFSET_MASK;
}

static __always_inline u32 fkt_ring_joins(u64 word)
{
	return (u32)word / FKT_RING_JOIN;
}

static __always_inline bool fkt_ring_is_closed(u64 word)
{
	return fkt_ring_offset(word) >= FKT_RING_CLOSED;
}

static __always_inline bool fkt_ring_in_gap(u64 word)
{
	return fkt_ring_offset(word) == FKT_RING_GAP;
}

/* Returns the number that fkt_ring_try_commit_by() adds for an event of `bytes` bytes. */
static __always_inline u64 fkt_ring_to_commit(u32 bytes)
{
	return (u64)bytes << 32 | 1;
}

static __always_inline struct fkt_page_header *fkt_ring_page(const struct fkt_ring *r, u32 run)
{
	return r->slots[run & r->slot_mask];
}

/* Returns the value of open_page without a page: a header with page_bytes 0. which: FKT_RING_NOWHERE or _OPENING. */
static __always_inline u64 fkt_ring_no_page(const struct fkt_ring *r, u32 which)
{
	return (u64)(unsigned long)&r->none[which] - offsetof(struct fkt_page_header, page_bytes);
}

/*
 * h: the open page or fkt_ring_no_page(). The latter is not aligned as a header, and has no field but page_bytes: so h
 * is not dereferenced.
 */
static __always_inline const u32 *fkt_ring_page_bytes(const struct fkt_page_header *h)
{
	return (const u32 *)((const char *)h + offsetof(struct fkt_page_header, page_bytes));
}

/* Called before the open page is closed. */
static __always_inline void fkt_ring_forget_page(struct fkt_ring *r)
{
	WRITE_ONCE(r->open_page, fkt_ring_no_page(r, FKT_RING_NOWHERE));
}

#endif /* FKT_RING_H */
