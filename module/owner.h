/* SPDX-License-Identifier: GPL-2.0-only */
/* Common parts of fetch.c and lend.c. */
#ifndef FKT_OWNER_H
#define FKT_OWNER_H

#include <linux/types.h>

struct file;
struct fkt_engine;
struct fkt_page;

bool fkt_owner_may(struct file *file, const struct fkt_engine *engine);
int fkt_owner_lock(struct file *file, const struct fkt_engine *engine);
void fkt_owner_lock_drain(void);
void fkt_owner_relock(void);
bool fkt_owner_trylock(void);
void fkt_owner_unlock(void);
struct fkt_page *fkt_owner_collect(void);
bool fkt_owner_complete(void);
bool fkt_owner_readable(struct file *file);
void fkt_owner_reset(struct file *file);

#endif /* FKT_OWNER_H */
