/* SPDX-License-Identifier: GPL-2.0-only */
/* FKT_STATUS, FKT_CPU_STATUS, FKT_INDEX, FKT_HIT_COUNTS and FKT_RESULTS. */
#ifndef FKT_STATUS_H
#define FKT_STATUS_H

struct file;
struct fkt_recording;
struct fkt_cpu_status;
struct fkt_histogram_row;
struct fkt_hit_counts;
struct fkt_index;
struct fkt_results;
struct fkt_status;

void fkt_status(struct fkt_recording *rec, const struct file *file, struct fkt_status *status);
int fkt_cpu_status(struct fkt_recording *rec, const struct file *file, struct fkt_cpu_status *status);
int fkt_status_index(struct fkt_recording *rec, const struct file *file, const struct fkt_index *request);
int fkt_status_hit_counts(struct fkt_recording *rec, const struct file *owner, struct fkt_hit_counts *counts);
int fkt_status_results(struct fkt_recording *rec, const struct file *file, struct fkt_results *results,
		       struct fkt_histogram_row *rows);

#endif /* FKT_STATUS_H */
