/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of the recording the recorder causes itself. */
#ifndef FKT_OWN_H
#define FKT_OWN_H

struct fkt_page_header;
struct fkt_status;
struct task_struct;

void fkt_own_start(const struct task_struct *drain);
void fkt_own_look(const struct fkt_page_header *header);
void fkt_own_status(struct fkt_status *status);

#endif /* FKT_OWN_H */
