/* SPDX-License-Identifier: GPL-2.0-only */
/* Common parts of the engines whose pages the owner takes itself (reader_splice.c, reader_mmap.c). */
#ifndef FKT_READER_H
#define FKT_READER_H

#include <linux/types.h>

struct file;
struct fkt_engine;
struct fkt_page;

void fkt_reader_start(const struct fkt_engine *engine, u64 limit);
bool fkt_reader_may(struct file *file, u32 calls);
int fkt_reader_lock(struct file *file, u32 calls);
void fkt_reader_lock_drain(void);
void fkt_reader_relock(void);
void fkt_reader_unlock(void);
struct fkt_page *fkt_reader_collect(void);
bool fkt_reader_complete(void);
bool fkt_reader_readable(struct file *file);
int fkt_reader_leave(bool leave);
void fkt_reader_reset(struct file *file);

#endif /* FKT_READER_H */
