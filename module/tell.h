/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of layer fkt. */
#ifndef FKT_TELL_H
#define FKT_TELL_H

#include <linux/types.h>

void fkt_tell(u32 id, u32 pages, u64 word);
void fkt_tell_wake(void);

#endif /* FKT_TELL_H */
