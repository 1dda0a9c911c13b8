/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader's side: what a page that leaves says. */

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
