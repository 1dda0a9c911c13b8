// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to a running recording: changing layers, adding members, snapshots, fetching what made its
 * trigger true. Also the ring size of later recordings.
 */

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "drain/reader.h"
#include "drain/recording.h"
#include "drain/trigger.h"
#include "ring/access.h"
#include "ring/filter.h"
#include "ring/page_pool.h"
#include "ring/rings.h"
#include "ring/self.h"
#include "attach.h"
#include "capture.h"
#include "steer.h"

/* ---- the mask ---- */

/*
 * New mask = (old | set) & ~clear. -ENODATA: no recording runs; -EPERM: it belongs to another user; -ENXIO: it has no
 * instruments of a layer that is added; -EBUSY: it waits for the hit that begins it.
 */
int fkt_steer_mask(struct fkt_recording *rec, struct file *file, u64 set, u64 clear)
{
	u64 mask;
	int err;

	if (set & ~fkt_all_layers())
		return -EINVAL;
	err = fkt_recording_lock(rec);
	if (err)
		return err;
	if (rec->state != FKT_RECORDING || !rec->owner) {
		err = -ENODATA;
	} else if (!fkt_access_steer(file, rec->owner)) {
		err = -EPERM;
	} else if (fkt_recording_waits(rec)) {
		err = -EBUSY;
	} else if (set & ~rec->mask & ~fkt_recording_layers(rec)) {
		err = -ENXIO;
	} else {
		mask = (rec->mask | set) & ~clear;
		/* Switch hooks on before layers are added to the mask, and off after layers are removed from it. */
		err = fkt_attach_layers(mask | rec->mask);
		if (!err) {
			/* Read without the lock by status calls and by the hit that begins the recording. */
			WRITE_ONCE(rec->mask, mask);
			/* While parked, unpark_probes() does both later. */
			if (!rec->parked) {
				fkt_recording_go_on(rec);
				fkt_tell_mask(mask);
			}
		}
		fkt_attach_layers(rec->mask);
	}
	mutex_unlock(&rec->lock);
	return err;
}

/* FKT_WAITREADY. */
int fkt_steer_wait_ready(struct fkt_recording *rec)
{
	return wait_event_interruptible(rec->ready,
					fkt_recording_state(rec) == FKT_RECORDING && fkt_recording_begun(rec));
}

/* FKT_JOIN, by a process that has inherited the owner's open file. */
int fkt_steer_join(struct fkt_recording *rec, struct file *file)
{
	int err = fkt_recording_lock(rec);

	if (err)
		return err;
	err = -ENODATA;
	if (rec->owner == file && fkt_recording_running(rec) && !rec->draining)
		err = fkt_filter_join();
	mutex_unlock(&rec->lock);
	return err;
}

/* FKT_FIRED. -EAGAIN: the trigger has not come true. */
int fkt_steer_fired(struct fkt_recording *rec, struct file *file, struct fkt_fired *fired)
{
	int err = fkt_recording_lock(rec);

	if (err)
		return err;
	err = fkt_recording_goes_on(rec, file) ? fkt_trigger_fired(fired) : -ENODATA;
	mutex_unlock(&rec->lock);
	return err;
}

/* FKT_FLIGHT: a snapshot of a flight recorder begins (LEAVE), is about to end (CLOSE), or has ended (STAY). */
int fkt_steer_flight(struct fkt_recording *rec, struct file *file, enum fkt_flight_step step)
{
	int err = fkt_recording_lock(rec);

	if (err)
		return err;
	if (!fkt_recording_goes_on(rec, file)) {
		err = -ENODATA;
	} else if (step == FKT_FLIGHT_STAY) {
		err = fkt_reader_leave(rec, false);
	} else if (step == FKT_FLIGHT_LEAVE || step == FKT_FLIGHT_CLOSE) {
		/* Before the pages are closed, so that new events do not overwrite the pages of the snapshot. */
		if (step == FKT_FLIGHT_LEAVE)
			err = fkt_reader_leave(rec, true);
		if (!err)
			fkt_rings_close_open();
	} else {
		err = -EINVAL;
	}
	mutex_unlock(&rec->lock);
	return err;
}

/* ---- memory ---- */

/* FKT_SETINITPOWPAGES, for recordings of this file. -EBUSY: there is a recording; -EDQUOT: more than it may have. */
int fkt_steer_set_pow(struct fkt_recording *rec, struct file *file, u32 pow)
{
	struct fkt_opener *opener = file->private_data;
	int err;

	if (pow < FKT_POW_MIN || pow > FKT_POW_MAX)
		return -EINVAL;
	err = fkt_recording_lock(rec);
	if (err)
		return err;
	if (!fkt_access_memory(file, pow))
		err = -EDQUOT;
	else if (rec->state != FKT_IDLE)
		err = -EBUSY;
	else
		opener->pow = pow;
	mutex_unlock(&rec->lock);
	return err;
}

/* FKT_SETTRYDMA, likewise. -EPERM: see access.c. */
int fkt_steer_set_dma(struct fkt_recording *rec, struct file *file, u32 low)
{
	struct fkt_opener *opener = file->private_data;
	int err;

	if (low && !fkt_access_low(file))
		return -EPERM;
	err = fkt_recording_lock(rec);
	if (err)
		return err;
	if (rec->state != FKT_IDLE)
		err = -EBUSY;
	else
		opener->low = low;
	mutex_unlock(&rec->lock);
	return err;
}

/* FKT_FREEBUFFER: first ends a stopped recording of the caller. -EBUSY: there is another recording. */
int fkt_steer_free(struct fkt_recording *rec, struct file *file)
{
	int err = fkt_recording_lock(rec);

	if (err)
		return err;
	err = -EBUSY;
	if (rec->owner == file && rec->state == FKT_STOPPED)
		fkt_capture_finish(rec);
	if (rec->state == FKT_IDLE) {
		fkt_rings_free();
		err = 0;
	}
	mutex_unlock(&rec->lock);
	return err;
}
