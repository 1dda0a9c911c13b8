/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that the module itself writes, and how much of the recording the recorder causes itself. */
#ifndef FKT_SELF_H
#define FKT_SELF_H

#include <linux/types.h>

struct fkt_page_header;
struct fkt_status;
struct task_struct;

void fkt_tell(u32 id, u32 pages, u64 word);
bool fkt_tell_clock(void);
void fkt_tell_mask(u64 mask);
void fkt_tell_table(u32 number, u64 instruments);
void fkt_self_start(const struct task_struct *drain);
void fkt_self_leave_out(bool leaves_out);
void fkt_self_look(const struct fkt_page_header *header);
void fkt_self_status(struct fkt_status *status);

#endif /* FKT_SELF_H */
