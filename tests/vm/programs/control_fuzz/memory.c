// SPDX-License-Identifier: GPL-2.0-only
/* Mappings of the device: created, moved, cut, protected, accessed, removed. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "fuzz.h"

static char *place_of(struct thread *t, int slot)
{
	return t->w->arena + (size_t)slot * ARENA_BYTES;
}

static size_t length(struct thread *t)
{
	return (chance(t, 80) ? 1 + below(t, 256) : 1 + below(t, ARENA_BYTES / 4096)) * 4096;
}

static int protection(struct thread *t)
{
	return chance(t, 80) ? PROT_READ : (int)below(t, 8);
}

static long map(struct thread *t)
{
	int slot = below(t, MAPS);
	off_t offset = chance(t, 80) ? 0 : (off_t)(number(t) & ~4095ULL);
	int flags = (chance(t, 85) ? MAP_SHARED : MAP_PRIVATE) | (chance(t, 5) ? MAP_POPULATE : 0);
	size_t bytes = length(t);
	void *got = mmap(place_of(t, slot), bytes, protection(t), flags | MAP_FIXED, device(t), offset);

	if (got == MAP_FAILED)
		return -1;
	t->w->mapped[slot] = bytes;
	return 0;
}

/* Maps inaccessible memory over it, so that no other mapping is placed in the hole. */
static long unmap(struct thread *t)
{
	int slot = below(t, MAPS);
	size_t from = chance(t, 50) ? 0 : below(t, 16) * 4096;

	return mmap(place_of(t, slot) + from, length(t) / 2, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED ? -1 : 0;
}

static long remap(struct thread *t)
{
	int from = below(t, MAPS), to = below(t, MAPS);
	size_t bytes = t->w->mapped[from], new_bytes = chance(t, 50) ? bytes : length(t);
	void *got;

	if (!bytes || from == to)
		return -1;
	got = mremap(place_of(t, from), bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place_of(t, to));
	if (got == MAP_FAILED)
		return -1;
	mmap(place_of(t, from), bytes, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	t->w->mapped[to] = new_bytes;
	return 0;
}

static long protect(struct thread *t)
{
	return mprotect(place_of(t, below(t, MAPS)), length(t), protection(t));
}

static long advise(struct thread *t)
{
	const int what[] = { MADV_DONTNEED, MADV_WILLNEED, MADV_DOFORK, MADV_DONTFORK, MADV_COLD,
			     MADV_PAGEOUT, MADV_FREE, MADV_REMOVE, MADV_POPULATE_READ };

	return madvise(place_of(t, below(t, MAPS)), length(t), what[below(t, sizeof(what) / sizeof(what[0]))]);
}

static long lock(struct thread *t)
{
	char *at = place_of(t, below(t, MAPS));

	return chance(t, 50) ? mlock(at, 4096 * (1 + below(t, 8))) : munlock(at, ARENA_BYTES);
}

static void read_byte(volatile char *at)
{
	(void)*at;
}

static void write_byte(volatile char *at)
{
	*at = 1;
}

static long touch(struct thread *t)
{
	int slot = below(t, MAPS);
	volatile char *at = place_of(t, slot) + below(t, chance(t, 80) ? 64 : ARENA_BYTES / 4096) * 4096;

	return guarded(t, chance(t, 95) ? read_byte : write_byte, at) ? 0 : -1;
}

const struct kind memory_kinds[] = {
	{ "mmap", 6, 30, map },
	{ "munmap", 4, 8, unmap },
	{ "mremap", 4, 8, remap },
	{ "mprotect", 4, 5, protect },
	{ "madvise", 4, 8, advise },
	{ "mlock", 2, 4, lock },
	{ "touch", 20, 80, touch },
	{ 0 },
};
