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

/* ---- the writers' side ---- */

/* If it is complete. irq_work_queue() is a barrier: what was stored before it is seen before it. */
inline fkt_ring_wake(run_, complete_)
{
	if
	:: STEP_IF(complete_)
			complete = (((run_) + 1 - r_tail) & 255) >= 1;
#ifndef TSO
			kicked = kicked || complete;
			complete = 0
#endif
		}
#ifdef TSO
		if
		:: d_step {
				complete && busy < (2 << me) && len(store_buffer) == 0 ->
				kicked = 1;
				complete = 0
			}
		:: !complete
		fi
#endif
	:: !(complete_) -> complete = 0
	fi
}

inline fkt_ring_commit_added(h, run_, n_)
{
	if
	:: IS_BROKEN(COMMIT_TORN) ->
		STEP torn = h_commit[h] }
		STEP
			h_commit[h] = (torn + (n_)) & 255;
			torn = 0;
			complete = h_commit[h] == 0;
			PUBLISH(AS_COMMIT, h, h_commit[h])
		}
	:: else ->
		/* B */
		STEP
			assert(!out[h]);
			h_commit[h] = (h_commit[h] + (n_)) & 255;
			complete = h_commit[h] == 0;
			PUBLISH(AS_COMMIT, h, h_commit[h]);
		}
	fi;
	fkt_ring_wake(run_, complete && !IS_BROKEN(LATE_SILENT));
}

inline fkt_ring_commit(h, run_, n_)
{
	STEP
		assert(!out[h]);
		h_events[h]++;
		PUBLISH(AS_WORDS, h, 0);
	}
	fkt_ring_commit_added(h, run_, n_)
}

inline fkt_ring_close_page(run_, used_, clock_)
{
	if
	:: IS_BROKEN(USED_FIRST) ->
		STEP
			closed = FKT_RING_PAGE(run_);
			h_end_clock[closed] = clock_;
			h_events[closed] = h_events[closed] + ((used_) & ~OFFSET & 63) / JOIN;
			h_used[closed] = (used_) & OFFSET;
			PUBLISH(AS_USED, closed, h_used[closed]);
		}
		STEP
			h_commit[closed] = (h_commit[closed] - (used_)) & 255;
			complete = h_commit[closed] == 0;
			PUBLISH(AS_COMMIT, closed, h_commit[closed]);
			closed = 0
		}
	:: else ->
		STEP
			closed = FKT_RING_PAGE(run_);
			assert(!out[closed]);
			h_end_clock[closed] = clock_;
			h_events[closed] = h_events[closed] + ((used_) & ~OFFSET & 63) / JOIN;
			h_commit[closed] = (h_commit[closed] - (used_)) & 255;
			complete = h_commit[closed] == 0;
			PUBLISH(AS_COMMIT, closed, h_commit[closed]);
		}
		/* C */
		STEP
			assert(!out[closed]);
			h_used[closed] = (used_) & OFFSET;
			PUBLISH(AS_USED, closed, h_used[closed]);
			closed = 0
		}
	fi;
	fkt_ring_wake(run_, complete && !IS_BROKEN(CLOSER_SILENT));
}

/* The exchange of `word`. Under RUN_IS_INDEX only the slot's number is compared. */
#define SAME_WORD ((w_run == word_run || (IS_BROKEN(RUN_IS_INDEX) && w_run % SLOTS == word_run % SLOTS)) && w_off == word_off)

/* What an exchange that succeeds has given away: words [from_, to_) of page `run_`. */
inline fkt_ring_take_words(run_, from_, to_)
{
	n = (1 << (to_)) - (1 << (from_));
	assert((given[(run_) % SLOTS] & n) == 0);
	given[(run_) % SLOTS] = given[(run_) % SLOTS] | n;
	truth_stamp[id] = clock;
}

/* Whoever repeats a loop must have been interrupted in it. */
inline again()
{
	assert(finished != finished_before);
}

inline fkt_ring_gap_from()
{
	if
	:: IS_BROKEN(GAP_FROM_PLAIN) ->
		STEP r_gap_from = clock }
	:: else ->
		STEP ok = SAME_WORD || IS_BROKEN(GAP_FROM_LATE) }
		if
		:: ok ->
			do
			:: STEP from = r_gap_from }
				if
				:: from >= clock -> break
				:: else
				fi;
				STEP
					ok = r_gap_from == from;
					if
					:: ok -> r_gap_from = clock
					:: else
					fi
				}
				if
				:: ok -> break
				:: else
				fi
			od;
			from = 0
		:: else
		fi;
		ok = 0
	fi
}

/* Result: got = LOST, or RETRY. */
inline fkt_ring_lose()
{
	if
	:: !(word_off & GAP) ->
		fkt_ring_gap_from();
		STEP
			ok = SAME_WORD;
			if
			:: ok ->
				w_off = (IS_BROKEN(GAP_OPEN) -> word_off | GAP : CLOSED | GAP);
				gap_first = clock;
				lost_last = clock
			:: else ->
				again()
			fi
		}
		if
		:: ok && !(word_off & CLOSED) && !IS_BROKEN(GAP_OPEN) ->
			fkt_ring_close_page(word_run, word_off, clock)
		:: else
		fi
	:: else ->
		ok = 1
	fi;
	if
	:: ok ->
		STEP r_lost = r_lost + (IS_BROKEN(LOST_UNCOUNTED) && !(word_off & GAP) -> 0 : 1) }
		got = LOST
	:: else
	fi;
	ok = 0
}

/*
 * The event does not fit the open page: where it goes instead. Result: got = LOST, RETRY, or
 * OPENS, `next` and `bytes` being what the exchange shall make of the word.
 */
inline fkt_ring_next_page()
{
	STEP
		/* A */
		ok = ((word_run + 1) & 255) == r_limit;
		if
		:: ok && (word_off & GAP) ->
			/* This one is lost now. */
			assert(clock > gap_first);
			lost_last = (clock > lost_last -> clock : lost_last)
		:: else
		fi
	}
	if
	:: ok && IS_BROKEN(GAP_WAITS) -> STEP again() }
	:: ok && !IS_BROKEN(GAP_WAITS) -> fkt_ring_lose()
	:: else ->
		STEP
			ok = r_lost == lost_count || IS_BROKEN(LOST_UNSEEN);
			if
			:: ok -> got = OPENS
			:: else -> again()
			fi;
			ok = 0;
			time = 0;
			pidword = 0;
			lost = (word_off & GAP) != 0;
			bytes = H + words + lost;
			if
			:: IS_BROKEN(HEADER_APART) -> bytes = H + lost
			:: IS_BROKEN(LOST_UNSEEN) -> lost_count = r_lost
			:: else
			fi
		}
	fi
}

inline read_clock()
{
	if
	:: !IS_BROKEN(CLOCK_ONCE) || clock == 0 ->
		clk++;
		assert(clk < 128); /* otherwise a loop never ends */
		clock = clk
	:: else
	fi
}

inline write_word(what, stamp_)
{
	assert(cell[page * P + i] == GARBAGE);
	cell[page * P + i] = what;
	stamp[page * P + i] = stamp_;
	i++
}

inline write_lost_word()
{
	write_word(LOST_WORD, clock & MASK);
	lost_word_count[page] = lost_count;
	lost_word_from[page] = gap_from
}

#define OPENING ((word_off & (CLOSED | (IS_BROKEN(GAP_OPEN) -> 0 : GAP))) || (word_off & OFFSET) + bytes > P)
#define ROOM(n_) (!(word_off & (CLOSED | GAP)) && (word_off & OFFSET) + (n_) <= P)

inline fkt_ring_reserve()
{
	got = RETRY;
	do
	:: STEP_IF(got == RETRY)
			finished_before = finished;
			word_run = w_run;
			word_off = w_off
		}
		STEP last = r_last_pid }
		if
		:: STEP_IF(pid_after != own_pid && !IS_BROKEN(PID_KEPT)) r_last_pid = NO_PID }
		:: pid_after == own_pid || IS_BROKEN(PID_KEPT)
		fi;
		STEP lost_count = r_lost }
		STEP read_clock() }
		STEP
			back = clock < r_last_clock;
			time = clock - r_last_clock > MASK;
			pidword = own_pid != last;
			last = 0;
			lost = 0;
			bytes = words + time + pidword;
		}
		STEP
			gap_from = r_gap_from;
			back = back || clock < gap_from;
			if
			:: OPENING
			:: else -> got = FITS
			fi
		}
		if
		:: got == RETRY -> fkt_ring_next_page()
		:: got == FITS
		fi;
		if
		:: IS_BROKEN(TIME_FORGOTTEN) && got >= FITS ->
			STEP r_last_clock = clock }
		:: else
		fi;
		if
		:: STEP_IF(got >= FITS)
				if
				:: !SAME_WORD ->
					again();
					got = RETRY
				:: SAME_WORD && got == FITS ->
					assert(!back);
					w_off = word_off + bytes;
					fkt_ring_take_words(w_run, word_off & OFFSET, (word_off & OFFSET) + bytes);
					lost_count = 0;
					gap_from = 0
				:: SAME_WORD && got == OPENS ->
					assert(!back);
					if
					:: lost ->
						assert(gap_from == gap_first);
						assert(lost_count == r_lost);
						assert(clock > lost_last)
					:: else ->
						gap_from = 0
					fi;
					w_run++;
					w_off = bytes;
					fkt_ring_take_words(w_run, 0, bytes)
				fi;
				finished_before = 0
			}
		:: got < FITS
		fi
	:: got != RETRY -> break
	od;
	if
	:: got >= FITS ->
		STEP r_last_clock = clock }
		STEP
			if
			:: pid_after == own_pid || r_last_pid == NO_PID || IS_BROKEN(PID_FORCED) || IS_BROKEN(PID_KEPT) ->
				r_last_pid = pid_after
			:: else
			fi
		}
	:: else
	fi;
	if
	:: got == OPENS ->
		word_run = (word_run + 1) & 255;
		if
		:: !(word_off & CLOSED) -> fkt_ring_close_page((word_run - 1) & 255, word_off & 63, clock)
		:: else
		fi;
		STEP
			page = FKT_RING_PAGE(word_run);
			assert(page != NO_PAGE && h_seq[page] == word_run && !out[page]);
			assert(cell[page * P] == GARBAGE);
			h_first_clock[page] = clock;
			h_lost[page] = lost_count;
			h_pid[page] = own_pid;
			cell[page * P] = HEADER;
			PUBLISH(AS_WORDS, page, 0);
			word_off = H;
			i = H;
			if
			:: IS_BROKEN(HEADER_APART) && lost ->
				write_lost_word();
				h_commit[page]++
			:: else
			fi
		}
	:: else
	fi
}

inline write_event()
{
	STEP
		page = FKT_RING_PAGE(word_run);
		assert(page != NO_PAGE && h_seq[page] == word_run && !out[page]);
		i = word_off & OFFSET;
		if
		:: time -> write_word(TIME_WORD, clock)
		:: else
		fi;
		if
		:: pidword -> write_word(PID_WORD + own_pid, clock & MASK)
		:: else
		fi;
		if
		:: lost ->
			write_lost_word()
		:: else
		fi;
		write_word((pid_after == own_pid -> EVENT : SWITCH) + id, clock & MASK);
		if
		:: words == 2 -> write_word(BODY + id, 0)
		:: else
		fi;
		PUBLISH(AS_WORDS, page, 0)
	}
}

inline fkt_ring_write_any()
{
	do
	:: fkt_ring_reserve();
		if
		:: IS_BROKEN(HEADER_APART) && got == OPENS
		:: else -> break
		fi
	od;
	if
	:: got >= FITS ->
		if
		:: IS_BROKEN(COMMIT_FIRST) ->
			page = FKT_RING_PAGE(word_run);
			fkt_ring_commit(page, word_run, bytes);
			write_event()
		:: else ->
			write_event();
			fkt_ring_commit(page, word_run, bytes)
		fi
	:: else
	fi
}

inline leave_pair()
{
	STEP
		r_pair_run = word_run;
		r_pair_off = word_off + words
	}
}

/* Result: got = FITS if it is written; RETRY: the long way. */
inline fkt_ring_write()
{
	do
	:: STEP
			finished_before = finished;
			word_run = w_run;
			word_off = w_off
		}
		STEP read_clock() }
		STEP ok = ROOM(words) && clock >= r_last_clock && clock - r_last_clock <= MASK }
		if
		:: STEP_IF(ok) ok = own_pid == r_last_pid }
		:: !ok
		fi;
		if
		:: STEP_IF(ok)
				if
				:: SAME_WORD ->
					w_off = word_off + words;
					fkt_ring_take_words(w_run, word_off & OFFSET, (word_off & OFFSET) + words);
					got = FITS
				:: else ->
					again()
				fi;
				finished_before = 0
			}
		:: !ok
		fi;
		if
		:: !ok || got == FITS -> break
		:: else
		fi
	od;
	ok = 0;
	if
	:: got == FITS ->
		STEP r_last_clock = clock }
		if
		:: IS_BROKEN(COMMIT_FIRST) ->
			page = FKT_RING_PAGE(word_run);
			fkt_ring_commit(page, word_run, words);
			write_event()
		:: else ->
			if
			:: IS_BROKEN(PAIR_FIRST) && op == 7 -> leave_pair()
			:: else
			fi;
			write_event();
			if
			:: !IS_BROKEN(PAIR_FIRST) && op == 7 -> leave_pair()
			:: else
			fi;
			fkt_ring_commit(page, word_run, words)
		fi
	:: else
	fi
}

/* Result: got = FITS if the end is in its begin's word. */
inline fkt_ring_join()
{
	STEP
		word_run = w_run;
		word_off = w_off
	}
	STEP ok = word_run == r_pair_run && word_off == r_pair_off }
	if
	:: STEP_IF(ok) ok = own_pid == r_last_pid || IS_BROKEN(JOIN_ANY_THREAD) }
	:: !ok
	fi;
	if
	:: ok ->
		STEP read_clock() }
		STEP
			last = r_last_clock;
			ok = clock >= last && clock - last < MASK
		}
	:: else
	fi;
	if
	:: STEP_IF(ok)
			/* The begin's word; if the page has gone meanwhile, whatever stands there. */
			page = FKT_RING_PAGE(word_run);
			i = page * P + (word_off & OFFSET) - 1;
			bytes = (IS_BROKEN(JOIN_FROM_LAST) -> clock - last : (clock - stamp[i]) & MASK);
			last = 0
		}
		STEP
			ok = SAME_WORD;
			if
			:: ok ->
				assert(!out[page]);
				w_off = word_off + (IS_BROKEN(JOIN_UNCOUNTED) -> 0 : JOIN);
				assert(w_off < CLOSED); /* else the bounds are too large for three joins */
				truth_stamp[id] = clock;
				got = FITS
			:: else
			fi
		}
	:: !ok
	fi;
	if
	:: ok ->
		STEP r_last_clock = clock }
		STEP
			assert(!out[page]);
			i = page * P + (word_off & OFFSET) - 1;
			assert(cell[i] >= EVENT && cell[i] < SWITCH && !joined[i]);
			joined[i] = id + 1;
			joined_ticks[i] = bytes;
			PUBLISH(AS_WORDS, page, 0)
		}
		ok = 0;
		fkt_ring_commit_added(page, word_run, (IS_BROKEN(JOIN_UNCOUNTED) -> 0 : JOIN))
	:: else ->
		last = 0;
		bytes = 0;
		page = 0
	fi
}

inline fkt_ring_close()
{
	do
	:: STEP
			finished_before = finished;
			word_run = w_run;
			word_off = w_off
		}
		if
		:: word_off & CLOSED -> break
		:: else
		fi;
		STEP read_clock() }
		STEP
			ok = SAME_WORD;
			if
			:: ok -> w_off = CLOSED | (word_off & GAP)
			:: else -> again()
			fi
		}
		if
		:: ok -> break
		:: else
		fi
	od;
	if
	:: ok ->
		ok = 0;
		STEP r_last_clock = clock }
		fkt_ring_close_page(word_run, word_off & 63, clock)
	:: else
	fi
}

#define COMPLETE(page) (page != NO_PAGE && SEEN_USED(page) != OPEN && SEEN_COMMIT(page) == 0)

/* Nobody is at it: then a complete page has woken the drain, or it looks anyway. */
#ifdef TSO
#define QUIET (busy == 0 && looking == ASLEEP && !kicked && !clearing && len(store_buffer) == 0)
#else
#define QUIET (busy == 0 && looking == ASLEEP && !kicked)
#endif
#define NOTHING_WAITS (r_tail == r_limit || STAYS || !COMPLETE(FKT_RING_PAGE(r_tail)))

active [LEVELS] proctype writer()
{
	byte me = _pid;
	byte op, number, id, own_pid, pid_after, words;
	byte word_run, word_off, last, clock, from, gap_from, lost_count, bytes, page, closed, torn;
	byte finished_before;
	byte got;
	bool time, back, pidword, lost, ok, complete;
	int ops = (me == 0 -> OPS0 : (me == 1 -> OPS1 : (me == 2 -> OPS2 : OPS3)));

	do
	:: ops != 0 ->
		d_step {
			busy < (1 << me) ->
			assert(!QUIET || NOTHING_WAITS);
			busy = busy | (1 << me);
			op = ops % 10;
			ops = ops / 10;
			own_pid = current;
			pid_after = (op == 5 -> 3 - own_pid : own_pid);
			words = (op == 2 || op == 4 -> 2 : 1);
			id = me * EVENTS + number;
			if
			:: op != 6 ->
				number++;
				attempted++;
				truth_pid[id] = own_pid
			:: else
			fi
		}
		if
		:: op == 6 -> fkt_ring_close()
		:: else ->
			if
			:: op == 8 -> fkt_ring_join()
			:: else
			fi;
			if
			:: got != FITS && (op <= 2 || op >= 7) -> fkt_ring_write()
			:: else
			fi;
			if
			:: got != FITS -> fkt_ring_write_any()
			:: else
			fi
		fi;
		STEP
			current = pid_after;
			busy = busy - (1 << me);
			finished++;
			op = 0; id = 0; own_pid = 0; pid_after = 0; words = 0;
			word_run = 0; word_off = 0; last = 0; clock = 0; from = 0; gap_from = 0; lost_count = 0; bytes = 0;
			page = 0; closed = 0; finished_before = 0; got = 0; time = 0; back = 0; pidword = 0; lost = 0
		}
	:: else -> break
	od;
	skip;
	d_step { number = 0; ended++ }
	if
	:: me == 0 ->
		/* The stop: no probe runs any more; the drain sleeps, so far as it has been told everything. */
		d_step { ended == LEVELS && QUIET -> assert(NOTHING_WAITS) }
		fkt_ring_close();
#ifdef TSO
		len(store_buffer) == 0;
#endif
		stopping = 1
	:: else
	fi
}

/* ---- the drain's side ---- */

/* A': a page's header, then its slot, then the limit. */
inline prepare(page_)
{
	h_seq[page_] = r_limit;
	h_events[page_] = 0;
	h_commit[page_] = (IS_BROKEN(HEADER_APART) -> H : 0);
	h_used[page_] = OPEN;
	h_first_clock[page_] = 0;
	h_end_clock[page_] = 0;
	h_lost[page_] = 0;
	h_pid[page_] = 0;
	lost_word_count[page_] = 0;
	lost_word_from[page_] = 0;
	i = 0;
	do
	:: i < P ->
		cell[page_ * P + i] = GARBAGE;
		stamp[page_ * P + i] = 0;
		joined[page_ * P + i] = 0;
		joined_ticks[page_ * P + i] = 0;
		i++
	:: else -> break
	od;
	out[page_] = 0;
#ifdef TSO
	assert(pending[page_] == 0);
	seen_commit[page_] = h_commit[page_];
	seen_used[page_] = OPEN;
#endif
	slots[r_limit % SLOTS] = page_
}

/* Puts the page that has been held longest. */
inline fkt_ring_put()
{
	if
	:: d_step {
			!IS_BROKEN(LIMIT_FIRST) ->
			held ? page;
			prepare(page);
			page = 0
		}
		d_step { r_limit++ }
	:: d_step { IS_BROKEN(LIMIT_FIRST) -> r_limit++ }
		d_step {
			held ? page;
			r_limit--;
			prepare(page);
			r_limit++;
			page = 0
		}
	fi
}

/* The reader: replays a page that leaves, and compares it with what happened. */
inline replay(page_)
{
	n = h_used[page_];
	assert(n > H && n <= P);
	assert(given[r_tail % SLOTS] == (1 << n) - 1);
	given[r_tail % SLOTS] = 0;
	assert(cell[page_ * P] == HEADER);
	assert(h_seq[page_] == r_tail);
	c = h_first_clock[page_];
	thread = h_pid[page_];
	e = 0;
	i = H;
	do
	:: i < n ->
		j = cell[page_ * P + i];
		assert(j != GARBAGE && j != HEADER);
		if
		:: j == TIME_WORD -> c = stamp[page_ * P + i]
		:: j != TIME_WORD && j < BODY -> c = c + ((stamp[page_ * P + i] - c) & MASK)
		:: else
		fi;
		if
		:: j == LOST_WORD ->
			assert(i == H);
			assert(lost_word_from[page_] > read_last);
			assert(lost_word_count[page_] == h_lost[page_])
		:: j >= PID_WORD && j < EVENT -> thread = j - PID_WORD
		:: j >= EVENT && j < BODY ->
			assert(c == truth_stamp[j % 32]);
			assert(c > read_last);
			assert(thread == truth_pid[j % 32]);
			if
			:: j >= SWITCH -> thread = 3 - thread
			:: else
			fi;
			truth_stamp[j % 32] = 0;
			truth_pid[j % 32] = 0;
			read_last = c;
			e++;
			if
			:: joined[page_ * P + i] ->
				j = joined[page_ * P + i] - 1;
				c = c + joined_ticks[page_ * P + i];
				assert(c == truth_stamp[j]);
				assert(c > read_last);
				assert(thread == truth_pid[j]);
				truth_stamp[j] = 0;
				truth_pid[j] = 0;
				read_last = c;
				e++;
				j = EVENT
			:: else
			fi
		:: j >= BODY -> assert(i > H && cell[page_ * P + i - 1] == EVENT + j % 32)
		:: else
		fi;
		i++
	:: else -> break
	od;
	assert(e == h_events[page_]);
#if KEEP
	if
	:: forgets -> overwritten = overwritten + (IS_BROKEN(OVERWRITE_UNCOUNTED) -> 0 : e)
	:: else -> written = written + e
	fi;
#else
	written = written + e;
#endif
	assert(h_end_clock[page_] >= c);
#ifdef TSO
	assert(pending[page_] == 0)
#endif
}

chan held = [PAGES] of { byte }; /* taken, not put */

/* What the drain looks at first and, if that was right, then: C' and B'. */
#define TAIL FKT_RING_PAGE(r_tail)
#define COMMIT_LOOK (SEEN_COMMIT(TAIL) == 0)
#define USED_LOOK (SEEN_USED(TAIL) != OPEN || IS_BROKEN(USED_IGNORED))
#define FIRST_LOOK (IS_BROKEN(COMMIT_THEN_USED) -> COMMIT_LOOK : USED_LOOK)
#define SECOND_LOOK (IS_BROKEN(COMMIT_THEN_USED) -> USED_LOOK : COMMIT_LOOK)

#if KEEP
#define BLIND (IS_BROKEN(OVERWRITE_BLIND) && KEEPS)
#else
#define BLIND false
#endif

/* In two steps, as options of the drain's loop. The first one: */
inline fkt_ring_take()
{
	if
	:: r_tail != r_limit && TO_BE_TAKEN && (FIRST_LOOK || BLIND) ->
#if KEEP
		forgets = KEEPS;
#endif
		looking = SECOND
	:: else -> looking = ENOUGH
	fi
}

/* ... and the second. Pages that are taken wait in `held`. */
inline fkt_ring_take_end()
{
	if
	:: SECOND_LOOK || BLIND ->
		page = TAIL;
		replay(page);
		out[page] = 1;
		held ! page;
		page = 0;
		r_tail++;
		looking = FIRST
	:: else -> looking = ENOUGH
	fi
}

active proctype drain()
{
	byte page;
	bool last_round;
#if KEEP
	bool forgets; /* what it takes now */
#endif

	/* Before anything runs. */
	atomic {
		do
		:: r_limit <= PAGES -> d_step { page = r_limit - 1; prepare(page); r_limit++ }
		:: else -> break
		od;
		busy = 0
	}
	do
	:: d_step {
			looking == ASLEEP && !last_round ->
			/* Woken, or of its own accord. */
			last_round = stopping;
#ifdef TSO
			clearing = 1;
			looking = FIRST
#else
			kicked = 0;
			fkt_ring_take()
#endif
		}
#ifdef PROGRESS
progress:	skip
#endif
	:: d_step { looking == FIRST && BARRIER -> fkt_ring_take() }
	:: d_step { looking == SECOND -> fkt_ring_take_end() }
#ifdef TSO
	:: d_step { looking == ENOUGH && !clearing -> looking = ASLEEP }
#endif
#if KEEP
	/* FKT_FLIGHT: the caller that begins a snapshot takes the complete pages. */
	:: d_step {
			looking == ASLEEP && !last_round && snapshots < 2 ->
			snapshots++;
			leaving = !leaving;
			looking = (leaving && !IS_BROKEN(OVERWRITE_LATE) -> FIRST : ASLEEP)
		}
#endif
	:: looking != SECOND && nempty(held) -> fkt_ring_put()
	:: looking == ASLEEP && last_round -> break
	od;
	skip;
	d_step {
		assert(r_tail == ((w_run + 1) & 255));
#if KEEP
		written = written + overwritten;
#endif
		assert(written + r_lost == attempted);
		e = 0;
		do
		:: e < LEVELS * EVENTS -> assert(!truth_stamp[e] || !truth_pid[e]); e++
		:: else -> break
		od
	}
}

#ifdef TSO
/* What the CPUs have stored, but not yet shown to each other. */
active proctype store_buffers()
{
	byte what, page, value;

end:	do
	:: d_step {
			store_buffer ? what, page, value ->
			pending[page]--;
			if
			:: what == AS_COMMIT -> seen_commit[page] = value
			:: what == AS_USED -> seen_used[page] = value
			:: else
			fi;
			what = 0;
			page = 0;
			value = 0
		}
	:: d_step {
			clearing ->
			clearing = 0;
			kicked = 0
		}
	od
}
#endif
