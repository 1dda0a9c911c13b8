/* SPDX-License-Identifier: GPL-2.0-only */
/* Records the name of a thread that is older than the recording. */
#ifndef FKT_PROCESS_H
#define FKT_PROCESS_H

struct task_struct;

void fkt_process_introduce(const struct task_struct *task);

#endif /* FKT_PROCESS_H */
