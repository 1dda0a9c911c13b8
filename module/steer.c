// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to a running recording: changing layers, adding members, snapshots, fetching what made its
 * condition true. Also the ring size of later recordings.
 */

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "access.h"
#include "attach.h"
#include "capture.h"
#include "drain.h"
#include "filter.h"
#include "index.h"
#include "pages.h"
#include "rings.h"
#include "steer.h"
#include "tell.h"
#include "when.h"
#include "write.h"

/* ---- the mask ---- */

/*
 * Lets probes record the layers in fkt_capture.mask. If the recording ends by itself meanwhile, the
 * mask must stay 0, so the state is checked after setting the mask. Caller must hold fkt_capture.lock.
 */
void fkt_capture_go_on(void)
{
	fkt_capture_set_mask(fkt_capture.mask);
	smp_mb(); /* pairs with the cmpxchg in fkt_capture_end(), and with fkt_gap() */
	if (READ_ONCE(fkt_capture.state) != FKT_RECORDING || READ_ONCE(fkt_full))
		WRITE_ONCE(fkt_mask, 0);
}

/* New mask = (old | set) & ~clear. -ENODATA: no recording runs; -EPERM: it belongs to another user. */
int fkt_capture_mask(struct file *file, u64 set, u64 clear)
{
	u64 mask;
	int err;

	if (set & ~fkt_all_layers())
		return -EINVAL;
	err = fkt_capture_lock();
	if (err)
		return err;
	if (fkt_capture.state != FKT_RECORDING || !fkt_capture.owner) {
		err = -ENODATA;
	} else if (!fkt_access_steer(file, fkt_capture.owner)) {
		err = -EPERM;
	} else {
		mask = (fkt_capture.mask | set) & ~clear;
		/* Switch hooks on before layers are added to the mask, and off after layers are removed from it. */
		err = fkt_attach_layers(mask | fkt_capture.mask);
		if (!err) {
			fkt_capture.mask = mask;
			/* While parked, unpark_probes() does both later. */
			if (!fkt_capture.parked) {
				fkt_capture_go_on();
				fkt_tell_mask(mask);
			}
		}
		fkt_attach_layers(fkt_capture.mask);
	}
	mutex_unlock(&fkt_capture.lock);
	return err;
}

/* FKT_WAITREADY. */
int fkt_capture_wait_ready(void)
{
	return wait_event_interruptible(fkt_capture.ready,
					fkt_capture_state() == FKT_RECORDING && fkt_capture_begun());
}

/* FKT_JOIN, by a process that has inherited the owner's open file. */
int fkt_capture_join(struct file *file)
{
	int err = fkt_capture_lock();

	if (err)
		return err;
	err = -ENODATA;
	if (fkt_capture.owner == file && fkt_capture_running() && !fkt_capture.draining)
		err = fkt_filter_join();
	mutex_unlock(&fkt_capture.lock);
	return err;
}

/* FKT_FIRED. -EAGAIN: the condition has not come true. */
int fkt_capture_fired(struct file *file, struct fkt_fired *fired)
{
	int err = fkt_capture_lock();

	if (err)
		return err;
	err = fkt_capture_goes_on(file) ? fkt_when_fired(fired) : -ENODATA;
	mutex_unlock(&fkt_capture.lock);
	return err;
}

/* FKT_FLIGHT: a snapshot of a flight recorder begins (LEAVE), is about to end (CLOSE), or has ended (STAY). */
int fkt_capture_flight(struct file *file, enum fkt_flight_step step)
{
	int err = fkt_capture_lock();

	if (err)
		return err;
	if (!fkt_capture_goes_on(file)) {
		err = -ENODATA;
	} else if (step == FKT_FLIGHT_STAY) {
		err = fkt_drain_leave(false);
	} else if (step == FKT_FLIGHT_LEAVE || step == FKT_FLIGHT_CLOSE) {
		/* Before the pages are closed, so that new events do not overwrite the pages of the snapshot. */
		if (step == FKT_FLIGHT_LEAVE)
			err = fkt_drain_leave(true);
		if (!err)
			fkt_rings_close_open();
	} else {
		err = -EINVAL;
	}
	mutex_unlock(&fkt_capture.lock);
	return err;
}

/* FKT_INDEX, one part: copies the index entries of `count` pages. */
int fkt_capture_index(struct file *file, const struct fkt_index *index, u32 done,
		      struct fkt_index_entry *entries, u32 count)
{
	int err = fkt_capture_lock();

	if (err)
		return err;
	if (fkt_capture.owner == file && fkt_capture.state == FKT_STOPPED)
		err = fkt_index_copy(index, done, entries, count);
	else
		err = -ENODATA;
	mutex_unlock(&fkt_capture.lock);
	return err;
}

/* ---- memory ---- */

/*
 * FKT_SETINITPOWPAGES and FKT_SETTRYDMA, for recordings of this open file. -EBUSY: there is a
 * recording; -EDQUOT: more memory than the opener may have.
 */
static int set_memory(struct file *file, const struct fkt_opener *wanted)
{
	int err = fkt_capture_lock();

	if (err)
		return err;
	err = -EBUSY;
	if (!fkt_access_memory(file, wanted->pow)) {
		err = -EDQUOT;
	} else if (fkt_capture.state == FKT_IDLE) {
		*(struct fkt_opener *)file->private_data = *wanted;
		err = 0;
	}
	mutex_unlock(&fkt_capture.lock);
	return err;
}

int fkt_capture_set_pow(struct file *file, u32 pow)
{
	struct fkt_opener wanted = *(struct fkt_opener *)file->private_data;

	if (pow < FKT_POW_MIN || pow > FKT_POW_MAX)
		return -EINVAL;
	wanted.pow = pow;
	return set_memory(file, &wanted);
}

int fkt_capture_set_dma(struct file *file, u32 low)
{
	struct fkt_opener wanted = *(struct fkt_opener *)file->private_data;

	wanted.low = low;
	return set_memory(file, &wanted);
}

/* FKT_FREEBUFFER: first ends a stopped recording of the caller. -EBUSY: there is another recording. */
int fkt_capture_free(struct file *file)
{
	int err = fkt_capture_lock();

	if (err)
		return err;
	err = -EBUSY;
	if (fkt_capture.owner == file && fkt_capture.state == FKT_STOPPED)
		fkt_capture_finish();
	if (fkt_capture.state == FKT_IDLE) {
		fkt_rings_free();
		err = 0;
	}
	mutex_unlock(&fkt_capture.lock);
	return err;
}
