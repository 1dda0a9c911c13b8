/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages that the dead owner of a flight recorder has left. */
#ifndef FKT_INHERIT_H
#define FKT_INHERIT_H

#include <linux/types.h>

struct fkt_recording;

void fkt_inherit(struct fkt_recording *rec);
bool fkt_inherit_left(struct fkt_recording *rec);
void fkt_inherit_write(struct fkt_recording *rec);

#endif /* FKT_INHERIT_H */
