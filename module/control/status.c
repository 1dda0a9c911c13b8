// SPDX-License-Identifier: GPL-2.0-only
/*
 * FKT_STATUS, FKT_CPU_STATUS, FKT_INDEX, FKT_HIT_COUNTS and FKT_RESULTS. The first two take no lock that is held while
 * waiting for anything: the status of a recording can be read while its output does not respond. The numbers are
 * approximate while the recording runs, and exact once it is stopped.
 */

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#include <fkt/file.h>
#include <fkt/ioctl.h>
#include <fkt/ring_drain.h>

#include "drain/drain.h"
#include "drain/page_index.h"
#include "drain/recording.h"
#include "hits/call_context.h"
#include "hits/calls_arm.h"
#include "instruments/histogram.h"
#include "instruments/instrument_table.h"
#include "ring/access.h"
#include "ring/cpu_ring.h"
#include "ring/page_pool.h"
#include "ring/self.h"
#include "attach.h"
#include "status.h"

static void add_ring(struct fkt_status *status, unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	status->events += fkt_ring_events(cpu);
	status->lost += READ_ONCE(c->ring->lost);
	status->clock_back += READ_ONCE(c->ring->clock_back);
	status->discarded += READ_ONCE(c->discarded);
	status->overwritten += READ_ONCE(c->overwritten);
	status->pages_written += READ_ONCE(c->written);
	status->pages_total += READ_ONCE(c->pool.count);
	status->pages_extra += READ_ONCE(c->extra);
	if (fkt_cpu_ready(c)) {
		status->lowest_free = min(status->lowest_free, READ_ONCE(c->lowest_free));
		status->pages_free += fkt_ring_free(c->ring);
		status->cpus_paused += fkt_ring_in_gap(READ_ONCE(c->ring->word));
	}
}

/*
 * Returns FKT_STATUS_* bits: what the opener may record, and whether the caller sees the recordings'
 * process numbers.
 */
static u32 flags_of(const struct file *file)
{
	u32 flags = fkt_access_all(file) ? FKT_STATUS_ALL : 0;

	if (task_active_pid_ns(current) != &init_pid_ns)
		flags |= FKT_STATUS_PID_NAMESPACE;
	return flags;
}

/* Size in bytes of a page of the present recording, or of this file's next one. */
static u32 page_bytes_of(const struct file *file, u32 state)
{
	const struct fkt_opener *opener = file->private_data;

	return state == FKT_IDLE ? fkt_pow_page_bytes(opener->pow) : fkt_rings_page_bytes();
}

/* Lockless: if another user's recording begins meanwhile, the counts are of its first moment. */
static bool may_count(const struct fkt_recording *rec, const struct file *file)
{
	return fkt_access_counts(file, READ_ONCE(rec->uid));
}

static void add_counts(struct fkt_recording *rec, struct fkt_status *status)
{
	unsigned int cpu;

	status->missed = fkt_attach_missed();
	status->lowest_stack = fkt_lowest_stack();
	status->lowest_free = U32_MAX;
	for_each_possible_cpu(cpu)
		add_ring(status, cpu);
	if (status->lowest_free == U32_MAX)
		status->lowest_free = 0;
	status->bytes_written = status->pages_written * status->page_bytes;
	fkt_drain_status(rec, status);
	fkt_self_status(status);
}

/* FKT_STATUS. */
void fkt_status(struct fkt_recording *rec, const struct file *file, struct fkt_status *status)
{
	memset(status, 0, sizeof(*status));
	fkt_recording_fill_status(rec, status);
	status->flags = flags_of(file) | (fkt_recording_waits(rec) ? FKT_STATUS_WAITS : 0);
	status->page_bytes = page_bytes_of(file, status->state);
	status->cpus = nr_cpu_ids;
	if (may_count(rec, file))
		add_counts(rec, status);
}

static void add_gap(struct fkt_recording *rec, struct fkt_cpu_status *status, struct fkt_cpu *c)
{
	struct fkt_status all;
	u64 untold;

	spin_lock(&c->take_lock);
	untold = READ_ONCE(c->ring->lost) - c->lost;
	spin_unlock(&c->take_lock);
	if (fkt_ring_in_gap(READ_ONCE(c->ring->word))) {
		status->gap_from = READ_ONCE(c->ring->gap_from);
		status->gap_lost = untold;
		return;
	}
	fkt_recording_fill_status(rec, &all);
	if (all.state == FKT_STOPPED && untold) {
		/*
		 * A probe that lost an event was interrupted before it counted the loss, and the gap
		 * had ended when it did: the header of the next page would tell the number, but there
		 * is no such page.
		 */
		status->gap_from = all.stop_clock;
		status->gap_lost = untold;
	}
}

/* FKT_CPU_STATUS. */
int fkt_cpu_status(struct fkt_recording *rec, const struct file *file, struct fkt_cpu_status *status)
{
	struct fkt_cpu *c;
	u32 cpu = status->cpu;

	if (cpu >= nr_cpu_ids)
		return -ENXIO;
	/* The number comes from user space and is used as an index. */
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	memset(status, 0, sizeof(*status));
	status->cpu = cpu;
	if (!cpu_possible(cpu) || !may_count(rec, file))
		return 0;
	c = per_cpu_ptr(&fkt_cpus, cpu);
	status->events = fkt_ring_events(cpu);
	status->lost = READ_ONCE(c->ring->lost);
	status->discarded = READ_ONCE(c->discarded);
	status->overwritten = READ_ONCE(c->overwritten);
	status->pages_written = READ_ONCE(c->written);
	if (fkt_cpu_ready(c))
		status->pages_free = fkt_ring_free(c->ring);
	add_gap(rec, status, c);
	return 0;
}

/* ---- FKT_INDEX ---- */

#define PART 64U /* entries copied at a time */

/*
 * As fkt_page_index_copy(). Takes the lock, under which the entries are freed. -ENODATA also if `file` owns no stopped
 * recording: in that state the drain thread, which adds entries without the lock, has ended.
 */
static int copy_part(struct fkt_recording *rec, const struct file *file, const struct fkt_index *request, u32 done,
		     struct fkt_index_entry *to, u32 count)
{
	int err = fkt_recording_lock(rec);

	if (err)
		return err;
	if (rec->owner == file && rec->state == FKT_STOPPED)
		err = fkt_page_index_copy(&rec->drain.index, request, done, to, count);
	else
		err = -ENODATA;
	mutex_unlock(&rec->lock);
	return err;
}

/*
 * FKT_INDEX. Copies in parts, through kernel memory: an access to the caller's memory may take
 * arbitrarily long, and the recording's lock must not be held during it.
 */
int fkt_status_index(struct fkt_recording *rec, const struct file *file, const struct fkt_index *request)
{
	struct fkt_index_entry __user *to = u64_to_user_ptr(request->entries);
	struct fkt_index_entry *part;
	u32 done = 0, n;
	int err;

	part = kmalloc_array(PART, sizeof(*part), GFP_KERNEL_ACCOUNT);
	if (!part)
		return -ENOMEM;
	do {
		n = min(request->count - done, PART);
		err = copy_part(rec, file, request, done, part, n);
		if (!err && copy_to_user(to + done, part, n * sizeof(*part)))
			err = -EFAULT;
		done += n;
	} while (!err && done < request->count);
	kfree(part);
	return err;
}

/* ---- what the instruments have seen; under the lock ---- */

/* FKT_HIT_COUNTS. -ENODATA: it is not this file's recording; -ENXIO: it has no such instrument. */
int fkt_status_hit_counts(struct fkt_recording *rec, const struct file *owner, struct fkt_hit_counts *counts)
{
	int err = fkt_recording_lock(rec);

	if (err)
		return err;
	*counts = (struct fkt_hit_counts){ .instrument = counts->instrument, .cpu = counts->cpu };
	err = rec->owner == owner ? fkt_instrument_table_counts(fkt_recording_instruments(rec), counts) :
					       -ENODATA;
	if (!err)
		fkt_record_calls_totals(counts);
	mutex_unlock(&rec->lock);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_status_hit_counts);

/*
 * FKT_RESULTS: copies rows of an instrument's histogram. -ENODATA: there is no recording; -EPERM: it is another open
 * file's, see access.c; -ENXIO: it has no such histogram. Called without the lock held across accesses to user memory.
 */
int fkt_status_results(struct fkt_recording *rec, const struct file *file, struct fkt_results *results,
			struct fkt_histogram_row *rows)
{
	const struct fkt_histogram *histogram;
	int err = fkt_recording_lock(rec);

	if (err)
		return err;
	histogram = fkt_instrument_table_histogram(fkt_recording_instruments(rec), results->instrument);
	if (!rec->owner)
		err = -ENODATA;
	else if (!fkt_access_results(file, rec->owner))
		err = -EPERM;
	else if (!histogram)
		err = -ENXIO;
	else
		results->count = fkt_histogram_read(histogram, &results->from, rows, results->count);
	mutex_unlock(&rec->lock);
	return err;
}
