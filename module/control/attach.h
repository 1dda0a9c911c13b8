/* SPDX-License-Identifier: GPL-2.0-only */
/* Switches the hooks with the mask. */
#ifndef FKT_ATTACH_H
#define FKT_ATTACH_H

#include <linux/types.h>

int fkt_attach_init(void);
void fkt_attach_exit(void);
int fkt_attach_layers(u64 layers);
void fkt_detach_all(void);
void fkt_attach_wait(void);
void fkt_attach_start(void);
u64 fkt_attach_missed(void);

#endif /* FKT_ATTACH_H */
