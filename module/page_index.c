// SPDX-License-Identifier: GPL-2.0-only
/*
 * Index entries of the pages written last, kept until the recording is over, so that the recorder need
 * not read their headers back: on a fast disk that costs as much as writing the pages. The recorder
 * reads the headers of older pages.
 */

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <fkt/file.h>
#include <fkt/ioctl.h>
#include <fkt/wire.h>

#include "page_index.h"
#include "recording.h"

#define PART 64U /* entries copied at a time */

static struct fkt_page_index {
	struct fkt_index_entry *entries; /* page n is in entry n % FKT_INDEX_PAGES; NULL: no entries are kept */
	u64 pages; /* written so far */
} kept_index;

/* Called before the first page. Without memory, no entries are kept and the recorder reads all headers. */
void fkt_page_index_start(void)
{
	kept_index.pages = 0;
	kept_index.entries = kvmalloc_array(FKT_INDEX_PAGES, sizeof(*kept_index.entries), GFP_KERNEL | __GFP_NOWARN);
}

void fkt_page_index_stop(void)
{
	kvfree(kept_index.entries);
	kept_index.entries = NULL;
}

/*
 * Adds the next page of the output, which was written; its header in memory is still what is on the
 * disk. Called from the drain thread.
 */
void fkt_page_index_add(const struct fkt_page_header *header)
{
	if (kept_index.entries)
		kept_index.entries[kept_index.pages % FKT_INDEX_PAGES] = (struct fkt_index_entry){
			.first_clock = header->first_clock,
			.end_clock = header->end_clock,
			.seq = header->seq,
			.cpu = header->cpu,
			.events = header->events,
		};
	kept_index.pages++;
}

/*
 * Copies the entries of `count` pages; the first one is page index->first + done. Caller must hold the
 * recording's lock, under which the entries are freed. -ENODATA: not all entries of the request are
 * kept.
 */
static int copy_locked(const struct fkt_index *index, u32 done, struct fkt_index_entry *to, u32 count)
{
	u32 i;

	if (!kept_index.entries || index->first > kept_index.pages || index->count > kept_index.pages - index->first ||
	    kept_index.pages - index->first > FKT_INDEX_PAGES)
		return -ENODATA;
	for (i = 0; i < count; i++)
		to[i] = kept_index.entries[(index->first + done + i) % FKT_INDEX_PAGES];
	return 0;
}

/*
 * As copy_locked(), but takes the lock. -ENODATA also if `file` owns no stopped recording: in that state
 * the drain thread, which adds entries without the lock, has ended.
 */
static int copy_part(struct file *file, const struct fkt_index *index, u32 done, struct fkt_index_entry *to,
		     u32 count)
{
	int err = fkt_recording_lock();

	if (err)
		return err;
	if (fkt_recording.owner == file && fkt_recording.state == FKT_STOPPED)
		err = copy_locked(index, done, to, count);
	else
		err = -ENODATA;
	mutex_unlock(&fkt_recording.lock);
	return err;
}

/*
 * FKT_INDEX. Copies in parts, through kernel memory: an access to the caller's memory may take
 * arbitrarily long, and the recording's lock must not be held during it.
 */
int fkt_page_index_give(struct file *file, const struct fkt_index *index)
{
	struct fkt_index_entry __user *to = u64_to_user_ptr(index->entries);
	struct fkt_index_entry *part;
	u32 done = 0, n;
	int err;

	part = kmalloc_array(PART, sizeof(*part), GFP_KERNEL);
	if (!part)
		return -ENOMEM;
	do {
		n = min(index->count - done, PART);
		err = copy_part(file, index, done, part, n);
		if (!err && copy_to_user(to + done, part, n * sizeof(*part)))
			err = -EFAULT;
		done += n;
	} while (!err && done < index->count);
	kfree(part);
	return err;
}
