/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages lent to the owner in a mapping. */
#ifndef FKT_LEND_H
#define FKT_LEND_H

#include <linux/types.h>

struct file;
struct fkt_lend;
struct vm_area_struct;

int fkt_lend_take(struct file *file, struct fkt_lend *lend);
int fkt_lend_give(struct file *file, const struct fkt_lend *lend);
int fkt_lend_mmap(struct file *file, struct vm_area_struct *vma);

#endif /* FKT_LEND_H */
