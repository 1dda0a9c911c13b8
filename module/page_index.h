/* SPDX-License-Identifier: GPL-2.0-only */
/* Index entries of the pages written last. */
#ifndef FKT_PAGE_INDEX_H
#define FKT_PAGE_INDEX_H

#include <linux/types.h>

struct file;
struct fkt_index;
struct fkt_page_header;

void fkt_page_index_start(void);
void fkt_page_index_stop(void);
void fkt_page_index_add(const struct fkt_page_header *header);
int fkt_page_index_give(struct file *file, const struct fkt_index *index);

#endif /* FKT_PAGE_INDEX_H */
