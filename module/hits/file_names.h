/* SPDX-License-Identifier: GPL-2.0-only */
/* The files that hits are about: their inode numbers, and an event with the path of each. */
#ifndef FKT_FILE_NAMES_H
#define FKT_FILE_NAMES_H

#include <linux/types.h>

int fkt_names_begin(void);
void fkt_names_end(void);
u64 fkt_file_number(u64 pointer, u32 kind);

#endif /* FKT_FILE_NAMES_H */
