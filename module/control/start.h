/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks the arguments of FKT_START. */
#ifndef FKT_START_H
#define FKT_START_H

struct file;
struct fkt_start;

int fkt_start_check(const struct fkt_start *start);
struct file *fkt_start_output(const struct fkt_start *start);

#endif /* FKT_START_H */
