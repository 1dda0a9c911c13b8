/* SPDX-License-Identifier: GPL-2.0-only */
/* The paths that system calls are given. */
#ifndef FKT_SYSCALL_PATHS_H
#define FKT_SYSCALL_PATHS_H

#include <linux/types.h>

#define FKT_PATH_WORDS 32 /* of a path that is recorded; a longer one is cut */

/* Result of reading a path. */
enum fkt_path_read {
	FKT_PATH_WHOLE,
	FKT_PATH_CUT,
	FKT_PATH_UNREAD, /* its memory could not be read without waiting */
};

u32 fkt_path_argument(long nr, bool is_ia32);
enum fkt_path_read fkt_read_path(u64 *words, u32 *used, unsigned long address);
void fkt_path_later(void);
bool fkt_path_was_unread(void);

#endif /* FKT_SYSCALL_PATHS_H */
