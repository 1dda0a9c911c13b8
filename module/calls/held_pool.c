// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory in which calls are held (held_pool.h). Each CPU has some free chunks of its own, and there are others that
 * all CPUs share. Chunks are taken and given back in any context but NMI.
 */

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/vmalloc.h>

#include "held_pool.h"

static unsigned int held_pages = 4096;
module_param(held_pages, uint, 0644);
MODULE_PARM_DESC(held_pages,
		 "pages of 4 KiB for calls that are held until their caller returns, from the next recording on");

/* Limits of held_pages. */
#define LEAST_PAGES 8
#define MOST_PAGES (1U << 20)

struct fkt_held_pool fkt_held_pool;

/* Free chunks of this CPU; used with interrupts disabled. */
static DEFINE_PER_CPU(struct fkt_held_chunk *, spare);
static DEFINE_PER_CPU(u32, spares);
#define MOST_SPARES 16

/*
 * Free chunks of all CPUs. Low half: number of the first one in the pool, plus 1; 0: there are none. High half:
 * incremented at each change, so that an exchange fails if the same chunk was taken and given back meanwhile.
 */
static u64 shared;

#define NEXT_SHARED (1ULL << 32)

static u32 number_of(const struct fkt_held_chunk *chunk)
{
	return chunk ? chunk - fkt_held_pool.chunks + 1 : 0;
}

/* The chunks from `first` to `last` are linked by `after`. */
static void push_shared(struct fkt_held_chunk *first, struct fkt_held_chunk *last)
{
	u64 before = READ_ONCE(shared), now;

	do {
		now = before;
		WRITE_ONCE(last->after, (u32)before ? &fkt_held_pool.chunks[(u32)before - 1] : NULL);
		/* Pairs with the exchange of pop_shared(): both are full barriers. */
		before = cmpxchg(&shared, now, ((now + NEXT_SHARED) & ~(u64)U32_MAX) | number_of(first));
	} while (before != now);
}

static struct fkt_held_chunk *pop_shared(void)
{
	u64 before = READ_ONCE(shared), now;
	struct fkt_held_chunk *chunk;

	do {
		now = before;
		if (!(u32)now)
			return NULL;
		chunk = &fkt_held_pool.chunks[(u32)now - 1];
		/* If another CPU takes the chunk meanwhile this is arbitrary, but the exchange then fails. */
		before = cmpxchg(&shared, now,
				 ((now + NEXT_SHARED) & ~(u64)U32_MAX) | (u32)number_of(READ_ONCE(chunk->after)));
	} while (before != now);
	return chunk;
}

/*
 * Returns NULL if there is none. Takes a chunk of all CPUs, with a locked instruction, only if the CPU's own are used
 * up.
 */
struct fkt_held_chunk *fkt_held_take_chunk(void)
{
	struct fkt_held_chunk *chunk;
	unsigned long flags;

	raw_local_irq_save(flags);
	chunk = this_cpu_read(spare);
	if (chunk) {
		this_cpu_write(spare, chunk->after);
		this_cpu_dec(spares);
	}
	raw_local_irq_restore(flags);
	return chunk ?: pop_shared();
}

/*
 * Gives back the chunks from `first` to `last`, which are linked by `after`. However many they are, this takes the same
 * time: a list is given back with interrupts disabled and the run queue locked.
 */
void fkt_held_give_chunks(struct fkt_held_chunk *first, struct fkt_held_chunk *last)
{
	bool is_shared = first != last;
	unsigned long flags;

	if (!is_shared) {
		raw_local_irq_save(flags);
		is_shared = this_cpu_read(spares) >= MOST_SPARES;
		if (!is_shared) {
			first->after = this_cpu_read(spare);
			this_cpu_write(spare, first);
			this_cpu_inc(spares);
		}
		raw_local_irq_restore(flags);
	}
	if (is_shared)
		push_shared(first, last);
}

/* Caller must make sure that no chunk is used. */
void fkt_held_pool_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(spare, cpu) = NULL;
		per_cpu(spares, cpu) = 0;
	}
	vfree(fkt_held_pool.chunks);
	fkt_held_pool.chunks = NULL;
	shared = 0;
}

/* Returns 0 or -ENOMEM. */
int fkt_held_pool_make(void)
{
	const u32 pages = clamp(READ_ONCE(held_pages), LEAST_PAGES, MOST_PAGES);
	u32 i;

	/*
	 * Zeroed: an interrupt may read the time of a call that is appended, but not written yet. It must be a time in
	 * the past.
	 */
	fkt_held_pool.chunks = __vmalloc((unsigned long)pages * FKT_HELD_CHUNK_BYTES,
					 GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!fkt_held_pool.chunks)
		return -ENOMEM;
	/* A call that never ends must leave room for other tasks. */
	fkt_held_pool.most = pages / 4;
	for (i = 0; i < pages - 1; i++)
		fkt_held_pool.chunks[i].after = &fkt_held_pool.chunks[i + 1];
	push_shared(&fkt_held_pool.chunks[0], &fkt_held_pool.chunks[pages - 1]);
	return 0;
}
