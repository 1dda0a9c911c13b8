/* SPDX-License-Identifier: GPL-2.0-only */
/* What the model knows: constants, struct fkt_ring, the pages, the rest of the world; and what one step is. */

#define H 1 /* words of a page's header */
#define OFFSET 15 /* FKT_RING_OFFSET_MASK */
#define JOIN 16 /* FKT_RING_JOIN; at most three of a page */
#define CLOSED 64 /* offset: FKT_RING_CLOSED */
#define GAP 128 /* FKT_RING_GAP */
#define OPEN 255 /* FKT_USED_OPEN */
#define NO_PID 0 /* FKT_PID_NONE; threads are 1 and 2 */
#define NO_PAGE 255
#define MASK ((1 << TIME_BITS) - 1)

/* What became of an attempt to reserve (got). */
#define RETRY 0
#define LOST 1
#define FITS 2
#define OPENS 3

/* Contents of a word. */
#define GARBAGE 0
#define HEADER 1
#define TIME_WORD 2
#define LOST_WORD 3
#define PID_WORD 4 /* + thread */
#define EVENT 32 /* + number */
#define SWITCH 64
#define BODY 96

/* struct fkt_ring */
byte w_run, w_off = CLOSED; /* word */
byte r_last_clock, r_last_pid = NO_PID, r_lost, r_gap_from;
byte r_pair_run, r_pair_off; /* pair[]: there is one kind */
byte r_limit = 1, r_tail = 1;
byte slots[SLOTS] = NO_PAGE;

/* struct fkt_page_header, and the words */
byte h_seq[PAGES], h_events[PAGES], h_commit[PAGES], h_used[PAGES], h_first_clock[PAGES];
byte h_end_clock[PAGES], h_lost[PAGES], h_pid[PAGES];
byte cell[PAGES * P], stamp[PAGES * P];
byte lost_word_count[PAGES], lost_word_from[PAGES];
byte joined[PAGES * P], joined_ticks[PAGES * P]; /* a begin's argument: its end's number + 1 */

/* The world. */
byte busy = 255; /* levels that are at it, as bits: the highest one runs. At first the drain sets up */
byte clk; /* the clock's last reading */
byte current = 1;
bool kicked, stopping;
byte looking; /* where the drain is */
#define ASLEEP 0
#define FIRST 1 /* about to look at a page */
#define SECOND 2
#ifdef TSO
#define ENOUGH 3 /* about to sleep, which is a barrier */
#define BARRIER (IS_BROKEN(KICK_UNFENCED) || !clearing)
#else
#define ENOUGH ASLEEP
#define BARRIER true
#endif

/* What only the checks know. */
byte truth_stamp[LEVELS * EVENTS], truth_pid[LEVELS * EVENTS];
byte given[SLOTS]; /* words of the page that are reserved, as bits */
bool out[PAGES]; /* the page is with the drain */
byte attempted, written;
#if KEEP
byte overwritten;
bool leaving; /* a snapshot is being taken */
byte snapshots; /* begun and ended */
#define SHORT (((r_limit - w_run - 1) & 255) < KEEP)
#define KEEPS (!leaving && !stopping)
#define TO_BE_TAKEN (!KEEPS || SHORT)
#define STAYS (KEEPS && ((r_limit - w_run) & 255) >= KEEP)
#else
#define TO_BE_TAKEN true
#define STAYS false
#endif
byte gap_first, lost_last; /* stamps of the gap's first lost event, of the last one */
byte finished; /* operations of all levels, so that a retry can tell that another level has run */
byte read_last; /* stamp of the last event that the reader saw */
byte ended; /* writers */
hidden byte i, j, c, thread, n, e;

/* One step of the writer `me`: no higher level is at it. */
#ifdef TSO
#define STEP_IF(condition) d_step { (condition) && busy < (2 << me) && len(store_buffer) < TSO ->
#else
#define STEP_IF(condition) d_step { (condition) && busy < (2 << me) ->
#endif
#define STEP STEP_IF(true)

/* Stores that the drain reads. TSO: the CPU itself sees them at once, the drain later, in order. */
#ifdef TSO
chan store_buffer = [TSO] of { byte, byte, byte };
byte seen_commit[PAGES], seen_used[PAGES], pending[PAGES];
#define PUBLISH(what, page, value) store_buffer ! what, page, value; pending[page]++
#define SEEN_COMMIT(page) seen_commit[page]
#define SEEN_USED(page) seen_used[page]
bool clearing; /* the drain's store to `kicked` is on its way */
#else
#define PUBLISH(what, page, value) skip
#define SEEN_COMMIT(page) h_commit[page]
#define SEEN_USED(page) h_used[page]
#endif
#define AS_WORDS 0
#define AS_COMMIT 1
#define AS_USED 2

#define FKT_RING_PAGE(run_) slots[(run_) % SLOTS]
