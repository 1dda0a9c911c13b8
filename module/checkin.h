/* SPDX-License-Identifier: GPL-2.0-only */
/* What the engine that moves pages into the page cache tells about itself. */
#ifndef FKT_CHECKIN_H
#define FKT_CHECKIN_H

#include <linux/types.h>

struct file;

bool fkt_checkin_possible(struct file *out);
u64 fkt_checkin_copied(void);

#endif /* FKT_CHECKIN_H */
