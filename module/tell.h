/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that the module itself writes. */
#ifndef FKT_TELL_H
#define FKT_TELL_H

#include <linux/types.h>

void fkt_tell(u32 id, u32 pages, u64 word);
void fkt_tell_clock(void);
void fkt_tell_mask(u64 mask);

#endif /* FKT_TELL_H */
