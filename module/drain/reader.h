/* SPDX-License-Identifier: GPL-2.0-only */
/* Common parts of the engines whose pages the owner takes itself (reader_splice.c, reader_mmap.c). */
#ifndef FKT_READER_H
#define FKT_READER_H

#include <linux/types.h>

struct file;
struct fkt_engine;
struct fkt_page;
struct fkt_recording;

void fkt_reader_start(struct fkt_recording *rec, const struct fkt_engine *engine, u64 limit);
bool fkt_reader_may(const struct fkt_recording *rec, struct file *file, u32 calls);
int fkt_reader_lock(struct fkt_recording *rec, struct file *file, u32 calls);
int fkt_reader_lock_again(struct fkt_recording *rec, struct file *file, u32 calls);
void fkt_reader_lock_drain(struct fkt_recording *rec);
void fkt_reader_relock(struct fkt_recording *rec);
void fkt_reader_unlock(struct fkt_recording *rec);
struct fkt_page *fkt_reader_collect(struct fkt_recording *rec);
bool fkt_reader_complete(struct fkt_recording *rec);
bool fkt_reader_readable(struct fkt_recording *rec, struct file *file);
int fkt_reader_leave(struct fkt_recording *rec, bool leave);
void fkt_reader_reset(struct fkt_recording *rec, struct file *file);

#endif /* FKT_READER_H */
