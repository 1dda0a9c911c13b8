/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * include/fkt/ring*.h as a model that spin checks exhaustively: every interleaving of nested writers
 * on one CPU and of the drain on another. tests/model/run has the configurations, and the broken
 * variants (-DBROKEN=NAME) that must each be caught.
 *
 * The CPU. Writer n runs at level n (task, softirq, irq, NMI). A step is one access to memory that
 * another level or the drain may read or write. A higher level may interrupt a lower one between any
 * two steps, as often as it has operations left, and completes an operation before the lower level
 * continues: STEP waits for that. OPSn lists the operations of level n, one decimal digit each, the
 * last digit first:
 *
 *      1, 2    fkt_ring_write(): an event of 1 or 2 words      6   fkt_ring_close(): an old page
 *      3, 4    fkt_ring_write_any(): as 1, 2, on the slow path  5   ... a switch to another thread
 *      7       fkt_ring_write_begin()                          8   an end: fkt_ring_join(), or as 1
 *
 * When all is done, writer 0 closes the open page and stops the drain.
 *
 * The drain takes and puts pages at any time, also without being woken. But it may also sleep until
 * it is woken, so every page that becomes complete must wake it (`batch` is 1).
 *
 * Merged into one step: stores that no other context can read before a later store allows it (an
 * event's words, a page's header, a slot); the load of a slot, which does not change while its page
 * is in the ring, with the first access to the page; without TSO, the drain's clearing of `kicked`
 * and its first look at the rings.
 *
 * Smaller than in reality: sizes count words, a page has P words, the first of which is its header; a
 * LOST word has its count and stamp beside it, not behind it; a word has TIME_BITS bits of its stamp.
 * Running numbers begin at 1, and 0 is the closed page before the first. The clock advances at each
 * reading and only then. It never steps back, as it does in the unit tests: the model checks that the
 * ring does not take anything else for such a step.
 *
 * Memory. Steps are sequentially consistent, while FKT's target is x86, whose CPUs delay their own
 * stores, in order (TSO). That adds nothing to what the writers do among themselves: they share one
 * CPU, which sees its own stores in program order, interrupted or not. Towards the drain three
 * stores publish something, A' limit, B commit, C used, each after what it publishes, and each read
 * by a load-acquire before that is read (A, B', C'). Under TSO no store passes an older store and no
 * load an older load, so a reader that sees the later store sees the earlier one; a limit or a tail
 * that is seen late has the same effect as a slow drain. What TSO does allow, a load before an older store, matters where two
 * CPUs each store one variable and then load the other's. There is one such place, outside ring.h:
 * the drain clears `kicked`, then looks at the pages; a writer completes a page, then sets `kicked`.
 * -DTSO=n models a store buffer of n for what the drain reads, and the drain's own for `kicked`, so
 * that this argument is checked too.
 *
 * What is checked:
 *  - no word of a page is given twice (fkt_ring_take_words()), or written twice;
 *  - no page leaves with an event or a header that is not written, and no writer writes to it afterwards;
 *  - written + lost == attempted; a LOST word has the exact count, and the stamp of the first lost
 *    event; nothing is written inside a gap, nothing lost outside one;
 *  - the reader's rules of wire.h (replay()) give every event its own full stamp, in order, and its
 *    own thread, ends that were joined to their begins among them;
 *  - a writer repeats its loop only if another one came in between (again()), no loop goes on for
 *    ever, and every process terminates;
 *  - if a page is complete and the drain sleeps, a writer is about to wake it.
 *
 * A flight recorder is the same ring with another drain (-DKEEP=n): it takes a page only when fewer than
 * n are free, counts its events as overwritten, and returns it as a free one. All pages leave at the
 * stop, and when a snapshot is taken. written + overwritten + lost == attempted. Whenever the drain
 * sleeps, n - 1 pages are free or the oldest one is not complete: a writer that opens a page behind a
 * closed one takes a free page, and wakes no one.
 */

#ifndef OPS0
#define OPS0 121
#endif
#ifndef OPS1
#define OPS1 11
#endif
#ifndef OPS2
#define OPS2 0
#endif
#ifndef OPS3
#define OPS3 0
#endif
#ifndef LEVELS
#define LEVELS 2
#endif
#ifndef PAGES
#define PAGES 2 /* in the ring */
#endif
#ifndef SLOTS
#define SLOTS 2 /* of the table, a power of two */
#endif
#ifndef EVENTS
#define EVENTS 4 /* of a level, at most */
#endif
#ifndef P
#define P 4 /* words of a page */
#endif
#ifndef TIME_BITS
#define TIME_BITS 7 /* nothing is ever that late: no TIME word */
#endif
#ifndef KEEP
#define KEEP 0 /* pages that a flight recorder keeps free; 0: it is none */
#endif
#ifndef BROKEN
#define BROKEN NOTHING
#endif

/* The broken variants. */
#define NOTHING 0
#define COMMIT_FIRST 1 /* commit before the event is written */
#define USED_FIRST 2 /* `used` published before it is taken off the commit count */
#define CLOCK_ONCE 3 /* the clock is read outside the retry loop */
#define COMMIT_THEN_USED 4 /* the drain looks at commit before it looks at used */
#define USED_IGNORED 5 /* ... does not look at used */
#define PID_KEPT 6 /* last_pid not taken away before a switch event's exchange */
#define PID_FORCED 7 /* ... and the next one's stored although a higher level may have written meanwhile */
#define HEADER_APART 8 /* the header is a reservation of its own, which is never committed */
#define GAP_OPEN 9 /* a gap begins, and the page stays open for smaller events */
#define GAP_WAITS 10 /* no gap: the writer waits for a free page */
#define GAP_FROM_PLAIN 11 /* the gap's begin is stored although a higher level may have stored it */
#define GAP_FROM_LATE 12 /* ... is stored if it is later, without looking at the word once more */
#define LOST_UNSEEN 13 /* a gap ends without a check whether events were lost since its stamp was read */
#define LOST_UNCOUNTED 14 /* the event that begins the gap is not counted */
#define LIMIT_FIRST 15 /* limit published before the slot */
#define LATE_SILENT 16 /* the commit that completes a closed page does not wake the drain */
#define CLOSER_SILENT 17 /* ... nor does closing a page whose events are all committed */
#define RUN_IS_INDEX 18 /* the word holds a slot number instead of a running number */
#define COMMIT_TORN 19 /* load, add, store instead of one instruction */
#define TIME_FORGOTTEN 20 /* last_clock stored before the exchange */
#define KICK_UNFENCED 21 /* the drain clears `kicked` without a barrier (with TSO) */
#define JOIN_UNCOUNTED 22 /* a join leaves the word as it is */
#define JOIN_ANY_THREAD 23 /* ... does not check that the begin is of the same thread */
#define JOIN_FROM_LAST 24 /* ... takes its ticks from last_clock */
#define PAIR_FIRST 25 /* a begin can be joined before it is written */
#define OVERWRITE_BLIND 26 /* a page that must go is taken, complete or not */
#define OVERWRITE_UNCOUNTED 27 /* ... its events are not counted */
#define OVERWRITE_LATE 28 /* a snapshot waits for the next page before it looks at those that are there */

#define IS_BROKEN(name) (BROKEN == name)

/* The ring and its pages, what writers do, and what the drain does. */
#include "state.pml"
#include "reserve.pml"
#include "write.pml"
#include "drain.pml"
