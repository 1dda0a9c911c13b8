/* SPDX-License-Identifier: GPL-2.0-only */
/* The output of a recording: how much it can hold, and which engine writes it. */
#ifndef FKT_OUTPUT_H
#define FKT_OUTPUT_H

struct file;
struct fkt_engine;
struct fkt_start;
struct fkt_writeout;

int fkt_output_limits(struct fkt_writeout *w, const struct fkt_start *start);
const struct fkt_engine *fkt_output_engine(const struct fkt_start *start, struct file *out);
const struct fkt_engine *fkt_output_best_engine(const struct file *out);

#endif /* FKT_OUTPUT_H */
