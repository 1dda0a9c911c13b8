/* SPDX-License-Identifier: GPL-2.0-only */
/* Access control: what an opener may record. */
#ifndef FKT_ACCESS_H
#define FKT_ACCESS_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct cred;
struct file;
struct fkt_start;
struct task_struct;

bool fkt_access_all(const struct file *file);
int fkt_access_start(const struct file *file, const struct fkt_start *start);
bool fkt_access_steer(const struct file *file, const struct file *owner);
bool fkt_access_results(const struct file *file, const struct file *owner);
bool fkt_access_is_small(u32 pow);
bool fkt_access_counts(const struct file *file, kuid_t recorder);
bool fkt_access_memory(const struct file *file, u32 pow);
bool fkt_access_low(const struct file *file);
bool fkt_access_uncharged(const struct file *file);
bool fkt_access_own(const struct cred *opener, const struct task_struct *task);

#endif /* FKT_ACCESS_H */
