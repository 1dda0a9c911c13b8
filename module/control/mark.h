/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines that are written to /dev/fkt. */
#ifndef FKT_MARK_H
#define FKT_MARK_H

#include <linux/types.h>

struct file;

ssize_t fkt_mark_write(const struct file *file, const char __user *from, size_t bytes);

#endif /* FKT_MARK_H */
