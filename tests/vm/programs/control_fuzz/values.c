// SPDX-License-Identifier: GPL-2.0-only
/* Numbers and pointers for calls: mostly plausible, often at a boundary, sometimes arbitrary. */
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

uint64_t rnd(struct thread *t)
{
	return next_random(&t->random);
}

uint64_t below(struct thread *t, uint64_t limit)
{
	return rnd(t) % limit;
}

bool chance(struct thread *t, unsigned int percent)
{
	return below(t, 100) < percent;
}

/* Returns an arbitrary number: small ones, powers of two and their neighbours, negated ones, random bits. */
uint64_t number(struct thread *t)
{
	uint64_t n;

	switch (below(t, 4)) {
	case 0:
		return below(t, 20);
	case 1:
		n = 1ULL << below(t, 64);
		return n - 1 + below(t, 3);
	case 2:
		/* A page or a few bytes below 2^16, 2^32 or 2^64: sums with page sizes wrap around. */
		n = chance(t, 70) ? 4096ULL << below(t, 4) : below(t, 4);
		return (below(t, 3) ? 1ULL << (16 << below(t, 2)) : 0) - n;
	default:
		return rnd(t) >> below(t, 64);
	}
}

/* Returns a number that is usually below `limit`. */
uint64_t small(struct thread *t, uint64_t limit)
{
	return chance(t, 92) ? below(t, limit) : number(t);
}

/* Returns a user pointer that usually points to these bytes. */
void *place(struct thread *t, const void *bytes, size_t n)
{
	static _Thread_local char own[1 << 16];
	struct world *w = t->w;
	size_t cut = below(t, n + 1);

	if (n > sizeof(own))
		n = sizeof(own);
	switch (below(t, 100)) {
	case 0:
		return NULL;
	case 1:
		return (void *)number(t);
	case 2:
		return (void *)0xffffffff81000000UL;
	case 3: /* cut off by the end of the mapped memory */
		memcpy(w->edge + 4096 - (cut < 4096 ? cut : 4096), bytes, cut < 4096 ? cut : 4096);
		return w->edge + 4096 - (cut < 4096 ? cut : 4096);
	case 4:
		return w->faulty ? w->faulty + below(t, 4) * 4096 : NULL;
	case 5: /* the device's own pages, mapped or not */
		return w->arena + below(t, MAPS) * ARENA_BYTES + below(t, 64) * 4096;
	case 6:
		return (void *)"read-only";
	default:
		memcpy(own, bytes, n);
		return own;
	}
}

/* Returns a device file: often the one that started the recording. */
int device(struct thread *t)
{
	return t->w->device[chance(t, t->w->owns ? 95 : 30) ? (unsigned int)t->w->starter % SLOTS : below(t, SLOTS)];
}

/* Records that this process no longer owns a recording, as far as it knows. */
void lost_owner(struct world *w)
{
	pid_t self = getpid();

	w->owns = false;
	atomic_compare_exchange_strong(&w->shared->owner, &self, 0);
}

int output(struct thread *t)
{
	return t->w->out[below(t, OUTPUTS)];
}

int any_fd(struct thread *t)
{
	struct world *w = t->w;

	switch (below(t, 8)) {
	case 0:
		return device(t);
	case 1:
		return w->pipe[below(t, 2)];
	case 2:
		return w->socket[below(t, 2)];
	case 3:
		return -1;
	case 4:
		return (int)small(t, 64);
	default:
		return output(t);
	}
}
