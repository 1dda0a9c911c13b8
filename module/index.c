// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the file's index will say of the pages written last, kept until the recording is over. The
 * recorder need not read their headers back: on a fast disk that costs as much as writing the pages.
 * What is older than that it reads.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <fkt/file.h>

#include "fkt.h"

#define PART 64U /* entries copied at a time */

static struct {
	struct fkt_index_entry *entries; /* of page n in n % FKT_INDEX_PAGES; NULL: none are kept */
	u64 pages; /* written so far */
} kept;

/* Before the first page. Without memory for it the recorder reads all of them. */
void fkt_index_start(void)
{
	kept.pages = 0;
	kept.entries = kvmalloc_array(FKT_INDEX_PAGES, sizeof(*kept.entries), GFP_KERNEL | __GFP_NOWARN);
}

void fkt_index_stop(void)
{
	kvfree(kept.entries);
	kept.entries = NULL;
}

/* The next page of the output is written; its header still is as the disk has it. Drain thread. */
void fkt_index_add(const struct fkt_page_header *header)
{
	if (kept.entries)
		kept.entries[kept.pages % FKT_INDEX_PAGES] = (struct fkt_index_entry){
			.first_clock = header->first_clock,
			.end_clock = header->end_clock,
			.seq = header->seq,
			.cpu = header->cpu,
			.events = header->events,
		};
	kept.pages++;
}

/*
 * Entries of `count` pages, the first of them `done` behind the first that was asked for. Of a recording whose
 * drain has ended; under capture.c's lock.
 */
int fkt_index_copy(const struct fkt_index *index, u32 done, struct fkt_index_entry *to, u32 count)
{
	u32 i;

	if (!kept.entries || index->first > kept.pages || index->count > kept.pages - index->first ||
	    kept.pages - index->first > FKT_INDEX_PAGES)
		return -ENODATA;
	for (i = 0; i < count; i++)
		to[i] = kept.entries[(index->first + done + i) % FKT_INDEX_PAGES];
	return 0;
}

/*
 * FKT_INDEX. In parts, through memory of the kernel: an access to the caller's may take as long as the caller
 * likes, and capture.c's lock is not held meanwhile.
 */
int fkt_index_give(struct file *file, const struct fkt_index *index)
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
		err = fkt_capture_index(file, index, done, part, n);
		if (!err && copy_to_user(to + done, part, n * sizeof(*part)))
			err = -EFAULT;
		done += n;
	} while (!err && done < index->count);
	kfree(part);
	return err;
}
