/* SPDX-License-Identifier: GPL-2.0-only */
/* The texts of /proc/kft and /proc/kft_data. */
#ifndef FKT_KFT_SHOW_H
#define FKT_KFT_SHOW_H

struct file;
struct fkt_kft_plan;
struct fkt_kft_run;
struct seq_file;

void fkt_kft_show_status(struct seq_file *m, const struct fkt_kft_plan *plan, const struct fkt_kft_run *run);

int fkt_kft_open_log(struct file *file, struct fkt_kft_run *run);

#endif /* FKT_KFT_SHOW_H */
