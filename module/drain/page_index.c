// SPDX-License-Identifier: GPL-2.0-only
/*
 * Index entries of the pages written last, kept until the recording is over, so that the recorder need
 * not read their headers back: on a fast disk that costs as much as writing the pages. The recorder
 * reads the headers of older pages.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include <fkt/file.h>
#include <fkt/ioctl.h>
#include <fkt/wire.h>

#include "page_index.h"

/* Called before the first page. Without memory, no entries are kept and the recorder reads all headers. */
void fkt_page_index_start(struct fkt_page_index *index)
{
	index->pages = 0;
	index->entries = kvmalloc_array(FKT_INDEX_PAGES, sizeof(*index->entries), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}

void fkt_page_index_stop(struct fkt_page_index *index)
{
	kvfree(index->entries);
	index->entries = NULL;
}

/*
 * Adds the next page of the output, which was written; its header in memory is still what is on the
 * disk. Called from the drain thread.
 */
void fkt_page_index_add(struct fkt_page_index *index, const struct fkt_page_header *header)
{
	if (index->entries)
		index->entries[index->pages % FKT_INDEX_PAGES] = (struct fkt_index_entry){
			.first_clock = header->first_clock,
			.end_clock = header->end_clock,
			.seq = header->seq,
			.cpu = header->cpu,
			.events = header->events,
		};
	index->pages++;
}

/*
 * Copies the entries of `count` pages; the first one is page request->first + done. Called when no page is added any
 * more. -ENODATA: not all entries of the request are kept.
 */
int fkt_page_index_copy(const struct fkt_page_index *index, const struct fkt_index *request, u32 done,
			struct fkt_index_entry *to, u32 count)
{
	u32 i;

	if (!index->entries || request->first > index->pages || request->count > index->pages - request->first ||
	    index->pages - request->first > FKT_INDEX_PAGES)
		return -ENODATA;
	for (i = 0; i < count; i++)
		to[i] = index->entries[(request->first + done + i) % FKT_INDEX_PAGES];
	return 0;
}
