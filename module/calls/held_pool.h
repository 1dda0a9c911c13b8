/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory in which calls are held (held.c): chunks of a page, which tasks take when they need them. */
#ifndef FKT_CALLS_HELD_POOL_H
#define FKT_CALLS_HELD_POOL_H

#include <linux/types.h>

#include "call.h"

#define FKT_HELD_CHUNK_CALLS 169

struct fkt_held_chunk {
	struct fkt_held_chunk *before; /* in its task's list; NULL: it is the first one */
	/* in the list of its task, unless it is the last one; or in a list of free chunks */
	struct fkt_held_chunk *after;
	u64 lost; /* calls that were not appended because there was no room behind this chunk */
	struct fkt_held_chunk *first; /* of its task's list */
	u32 number; /* of the chunks before it in that */
	u32 pad;
	struct fkt_held_call calls[FKT_HELD_CHUNK_CALLS];
};

#define FKT_HELD_CHUNK_BYTES 4096

static_assert(sizeof(struct fkt_held_chunk) == FKT_HELD_CHUNK_BYTES);

/* Changed only while no call is held. */
extern struct fkt_held_pool {
	struct fkt_held_chunk *chunks; /* all of them; NULL: there are none */
	u32 most; /* chunks of a task */
} fkt_held_pool;

int fkt_held_pool_make(void);
void fkt_held_pool_free(void);
struct fkt_held_chunk *fkt_held_take_chunk(void);
void fkt_held_give_chunks(struct fkt_held_chunk *first, struct fkt_held_chunk *last);

#endif /* FKT_CALLS_HELD_POOL_H */
