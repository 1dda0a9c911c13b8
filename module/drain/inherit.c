// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of a flight recorder died, which should have written its pages after the stop: they are written to the
 * output that it gave for that case. If it dies during the recording, the drain thread writes them at the stop. If it
 * dies later, the work item that finishes the recording writes them, because the drain thread has ended or has nothing
 * to write.
 */

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/sched.h>

#include "ring/page_pool.h"
#include "drain.h"
#include "engine.h"
#include "inherit.h"
#include "output.h"
#include "reader.h"
#include "recording.h"
#include "writeout.h"
/* Makes the owner's pages those of an engine that writes. Called before the stop, or after the drain thread's end. */
/* Makes the owner's pages those of an engine that writes. Called before the stop, or after the drain thread's end. */
void fkt_inherit(struct fkt_recording *rec)
{
	struct fkt_writeout *w = &rec->drain.writeout;
	u32 before;

	if (!w->out || !rec->drain.engine->inherit)
		return;
	/*
	 * Under the reader's lock, nothing else overwrites pages as if they were still lent, or as if
	 * those in the rings were the oldest.
	 */
	fkt_reader_lock_drain(rec);
	WRITE_ONCE(rec->leave, true);
	before = rec->drain.engine->inherit(rec, &w->inherited);
	w->pos += (loff_t)before * fkt_rings_page_bytes();
	w->pages_written = before;
	/* Pairs with the load-acquire in move_pages(): the thread sees the pages in `inherited`. */
	smp_store_release(&rec->drain.engine, fkt_output_best_engine(w->out));
	fkt_reader_unlock(rec);
}

/*
 * Returns whether the owner, which died after the stop, has left pages that belong in its output. Called when it has
 * closed its file, or is just doing so.
 */
bool fkt_inherit_left(struct fkt_recording *rec)
{
	const struct fkt_engine *engine = rec->drain.engine;
	bool left;

	if (!rec->drain.writeout.out || !engine->inherit)
		return false;
	fkt_reader_lock_drain(rec);
	left = engine->left(rec);
	fkt_reader_unlock(rec);
	return left;
}

/*
 * Writes what the owner has left after the stop, if there is anything. Called when the drain thread has ended, without
 * a lock: the output may take long.
 */
void fkt_inherit_write(struct fkt_recording *rec)
{
	struct fkt_drain *d = &rec->drain;
	const struct cred *old;

	if (!fkt_inherit_left(rec))
		return;
	fkt_inherit(rec);
	old = fkt_drain_write_for_owner(d);
	/* Polls, because writes in flight wake only the drain thread at their end. */
	while (fkt_writeout_move(&d->writeout, d->engine, true, false) || fkt_writeout_busy(&d->writeout))
		schedule_timeout_idle(1);
	fkt_drain_write_for_self(old);
}
