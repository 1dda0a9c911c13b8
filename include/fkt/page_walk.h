/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Attributes the words of a complete page to threads, without a catalogue: the module uses this to
 * measure how much of a recording its own recorder causes. Readers decode pages with lib/read/page_decoder.h.
 */
#ifndef FKT_PAGE_WALK_H
#define FKT_PAGE_WALK_H

#include <fkt/events.h>
#include <fkt/wire.h>

/* Number of words after an event word; 0 for unknown ids. */
static inline __u32 fkt_words_after(__u32 id, __u32 arg)
{
	switch (id) {
	case FKT_W_LOST:
		return FKT_LOST_WORDS;
#define FKT_EVENT(id, NAME, LAYER, name, role, words, fields) \
	case id:                                              \
		return (words) == FKT_VARIABLE ? arg & FKT_VAR_MASK : (words);
#include <fkt/events.def>
	default:
		return 0;
	}
}

/*
 * Returns the bytes of the page's words that were written while a thread ran for which is_one() returns
 * true. used: bytes of the page in use, including its header.
 */
static inline __u32 fkt_page_bytes_of(const struct fkt_page_header *header, __u32 used,
				      int (*is_one)(__u32 tid))
{
	const __u64 *words = (const __u64 *)(header + 1);
	__u32 count = (used - FKT_PAGE_HEADER_BYTES) / sizeof(*words);
	__u32 i, bytes = 0;
	int is = is_one(header->pid);

	for (i = 0; i < count;) {
		__u32 id = fkt_word_id(words[i]), arg = fkt_word_arg(words[i]);
		__u32 size = 1 + fkt_words_after(id, arg);

		if (id == FKT_W_PID)
			is = is_one(arg & FKT_PID_MASK);
		bytes += is ? size * sizeof(*words) : 0;
		if (id >= FKT_E_SWITCH_R && id <= FKT_E_SWITCH_PREEMPT)
			is = is_one(arg & FKT_PID_MASK);
		i += size;
	}
	return bytes;
}

#endif /* FKT_PAGE_WALK_H */
