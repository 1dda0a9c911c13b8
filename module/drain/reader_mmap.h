/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages lent to the owner in a mapping. */
#ifndef FKT_READER_MMAP_H
#define FKT_READER_MMAP_H

#include <linux/types.h>

struct file;
struct fkt_lend;
struct fkt_recording;
struct vm_area_struct;

int fkt_reader_take(struct fkt_recording *rec, struct file *file, struct fkt_lend *lend);
int fkt_reader_give(struct fkt_recording *rec, struct file *file, const struct fkt_lend *lend);
int fkt_reader_mmap(struct file *file, struct vm_area_struct *vma);

#endif /* FKT_READER_MMAP_H */
