/* SPDX-License-Identifier: GPL-2.0-only */
/* Index entries of the pages written last. */
#ifndef FKT_PAGE_INDEX_H
#define FKT_PAGE_INDEX_H

#include <linux/types.h>

struct fkt_index;
struct fkt_index_entry;
struct fkt_page_header;

struct fkt_page_index {
	struct fkt_index_entry *entries; /* page n is in entry n % FKT_INDEX_PAGES; NULL: no entries are kept */
	u64 pages; /* written so far */
};

void fkt_page_index_start(struct fkt_page_index *index);
void fkt_page_index_stop(struct fkt_page_index *index);
void fkt_page_index_add(struct fkt_page_index *index, const struct fkt_page_header *header);
int fkt_page_index_copy(const struct fkt_page_index *index, const struct fkt_index *request, u32 done,
			struct fkt_index_entry *to, u32 count);

#endif /* FKT_PAGE_INDEX_H */
