/* SPDX-License-Identifier: GPL-2.0-only */
/* Flags of threads, which instruments set, clear and ask for (FKT_FLAG_OF_TASK). */
#ifndef FKT_TASK_FLAGS_H
#define FKT_TASK_FLAGS_H

#include <linux/types.h>

int fkt_task_flags_make(u32 threads);
void fkt_task_flags_free(void);
bool fkt_task_flags_used(void);
bool fkt_task_flag_is_set(u32 flag);
bool fkt_task_flag_set(u32 flag, bool is_set);
void fkt_task_flags_forget(pid_t tid);
void fkt_task_flags_renumber(pid_t old, pid_t new_);

#endif /* FKT_TASK_FLAGS_H */
