// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes lines of the file's catalogue into the stream (event DEFINE): names that instruments need which are added
 * during the recording. The lines are in complete pages before the first event that needs them can be written, so even
 * a truncated file has them.
 */

#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/ring_drain.h>

#include "drain/recording.h"
#include "ring/rings.h"
#include "ring/wake.h"
#include "ring/write.h"
#include "define.h"

/* How long a free page is waited for. */
#define PATIENCE HZ

/* Returns the bytes of the first lines that one event holds; 0: the first line is too long, or has no end. */
static u32 first_lines(const char *lines, u32 bytes)
{
	u32 n = min_t(u32, bytes, FKT_DEFINE_BYTES);

	while (n && lines[n - 1] != '\n')
		n--;
	return n;
}

/* Returns 0, or -EINVAL: a line is too long for an event, the last one has no end, or there is a zero byte. */
int fkt_define_check(const char *lines, u32 bytes)
{
	if (memchr(lines, 0, bytes))
		return -EINVAL;
	while (bytes) {
		u32 n = first_lines(lines, bytes);

		if (!n)
			return -EINVAL;
		lines += n;
		bytes -= n;
	}
	return 0;
}

static bool has_room(const struct fkt_recording *rec)
{
	bool has;

	preempt_disable_notrace();
	has = fkt_ring_free(this_cpu_ptr(&fkt_rings)) != 0;
	preempt_enable_notrace();
	return has || fkt_recording_keeps(rec);
}

static bool write_event(const char *lines, u32 bytes)
{
	const struct fkt_body body = {
		.tail = lines, .tail_bytes = bytes, .page_flags = FKT_PAGE_DEFINES,
	};
	bool written;
	u32 pid;

	/* Page flags are for one writer at a time: caller holds the recording's lock. */
	preempt_disable_notrace();
	pid = fkt_shown_pid(current->pid);
	written = fkt_ring_write_any(this_cpu_ptr(&fkt_rings), fkt_head(FKT_E_DEFINE, fkt_body_words(&body)), pid, pid,
				     &body);
	preempt_enable_notrace();
	return written;
}

/*
 * Writes lines that fkt_define_check() has found good. Returns -ENOBUFS if no page became free for a second, or
 * -ENODATA if the recording has ended by itself: then some of them may be written. Caller must hold the lock of a
 * recording that is not parked and has begun.
 */
int fkt_define(const struct fkt_recording *rec, const char *lines, u32 bytes)
{
	const unsigned long end = jiffies + PATIENCE;
	const bool had_lines = bytes;

	while (bytes) {
		u32 n = first_lines(lines, bytes);

		if (has_room(rec) && write_event(lines, n)) {
			lines += n;
			bytes -= n;
			continue;
		}
		if (READ_ONCE(rec->state) != FKT_RECORDING)
			return -ENODATA;
		if (time_after(jiffies, end))
			return -ENOBUFS;
		fkt_kick();
		usleep_range(1000, 2000);
	}
	/* So a file that is truncated anywhere has the lines before the events that need them. */
	if (had_lines)
		fkt_rings_close_open();
	return 0;
}
