/* SPDX-License-Identifier: GPL-2.0-only */
/* The writers' side, first half: commits and closed pages, gaps, and the reservation of words. */

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
