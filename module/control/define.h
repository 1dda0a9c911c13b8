/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_DEFINE_H
#define FKT_DEFINE_H

#include <linux/types.h>

struct fkt_recording;

int fkt_define_check(const char *lines, u32 bytes);
int fkt_define(const struct fkt_recording *rec, const char *lines, u32 bytes);

#endif /* FKT_DEFINE_H */
