/* SPDX-License-Identifier: GPL-2.0-only */
/* The writers' side, second half: events, pairs, the closing of old pages; and the process at each level. */

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
