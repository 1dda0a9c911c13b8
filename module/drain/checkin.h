/* SPDX-License-Identifier: GPL-2.0-only */
/* The engine that moves pages into the page cache of the output. */
#ifndef FKT_CHECKIN_H
#define FKT_CHECKIN_H

#include <linux/types.h>

struct file;

bool fkt_checkin_possible(struct file *out);

#endif /* FKT_CHECKIN_H */
