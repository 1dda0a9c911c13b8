/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Single instructions on a ring's own words: atomic with respect to interrupts and NMIs of this CPU.
 * Other CPUs do not store to these words, so no LOCK prefix is needed. Part of ring.h, and included
 * there.
 */
#ifndef FKT_RING_LOCAL_H
#define FKT_RING_LOCAL_H

/*
 * The kernel uses these instructions, which are atomic with respect to interrupts of this CPU only.
 * User space may use them if a single thread owns the ring permanently (the benchmark defines this).
 */
#ifdef __KERNEL__
#define FKT_RING_ONE_CPU
#endif

/* Sets *p to `new_` if it is `old`; atomic with respect to interrupts of this CPU, not other CPUs. */
static __always_inline bool fkt_local_cmpxchg(u64 *p, u64 old, u64 new_)
{
#ifdef FKT_RING_ONE_CPU
	bool done;

	asm volatile("cmpxchgq %[new_], %[p]"
		     : "=@ccz"(done), [p] "+m"(*p), "+a"(old)
		     : [new_] "r"(new_)
		     : "memory");
	return done;
#else
	return __atomic_compare_exchange_n(p, &old, new_, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

static __always_inline bool fkt_local_cmpxchg32(u32 *p, u32 old, u32 new_)
{
#ifdef FKT_RING_ONE_CPU
	bool done;

	asm volatile("cmpxchgl %[new_], %[p]"
		     : "=@ccz"(done), [p] "+m"(*p), "+a"(old)
		     : [new_] "r"(new_)
		     : "memory");
	return done;
#else
	return __atomic_compare_exchange_n(p, &old, new_, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/* One instruction, so that an interrupt comes before or after it, never in the middle. */
static __always_inline void fkt_local_inc(u64 *p)
{
#ifdef FKT_RING_ONE_CPU
	asm volatile("incq %0" : "+m"(*p));
#else
	__atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
#endif
}

static __always_inline void fkt_local_inc32(u32 *p)
{
#ifdef FKT_RING_ONE_CPU
	asm volatile("incl %0" : "+m"(*p));
#else
	__atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
#endif
}

static __always_inline void fkt_local_or(u64 *p, u64 bits)
{
#ifdef FKT_RING_ONE_CPU
	asm volatile("orq %[bits], %[p]" : [p] "+m"(*p) : [bits] "r"(bits));
#else
	__atomic_fetch_or(p, bits, __ATOMIC_RELAXED);
#endif
}

/* Adds in one instruction, ordered after all earlier stores (release); returns whether the sum is 0. */
static __always_inline bool fkt_local_add_is_zero(u32 *p, u32 value)
{
#ifdef FKT_RING_ONE_CPU
	bool zero;

	asm volatile("addl %[value], %[p]"
		     : "=@ccz"(zero), [p] "+m"(*p)
		     : [value] "ri"(value)
		     : "memory");
	return zero;
#else
	return __atomic_add_fetch(p, value, __ATOMIC_RELEASE) == 0;
#endif
}

/*
 * Adds the lower half of `both` to *p, and the upper half to the number behind it, in one instruction, ordered as
 * above; returns whether the second sum is 0. The first sum must not overflow, and the upper half must not be 0.
 */
static __always_inline bool fkt_local_add_two_is_zero(u32 *p, u64 both)
{
#ifdef FKT_RING_ONE_CPU
	bool zero;

	/* A sum that is 0 has a carry; a caller must ensure that no other sum has one. */
	asm volatile("addq %[both], %[p]"
		     : "=@ccc"(zero), [p] "+m"(*(u64 *)p)
		     : [both] "r"(both)
		     : "memory");
	return zero;
#else
	__atomic_fetch_add(p, (u32)both, __ATOMIC_RELAXED);
	return __atomic_add_fetch(p + 1, both >> 32, __ATOMIC_RELEASE) == 0;
#endif
}

/*
 * Returns whether *p differs from `value`: one instruction, including the load, for which the compiler
 * uses two with READ_ONCE().
 */
static __always_inline bool fkt_local_differs(const u64 *p, u64 value)
{
#ifdef FKT_RING_ONE_CPU
	bool differs;

	asm volatile("cmpq %[p], %[value]" : "=@ccnz"(differs) : [p] "m"(*p), [value] "r"(value));
	return differs;
#else
	return READ_ONCE(*p) != value;
#endif
}

static __always_inline bool fkt_local_differs32(const u32 *p, u32 value)
{
#ifdef FKT_RING_ONE_CPU
	bool differs;

	asm volatile("cmpl %[p], %[value]" : "=@ccnz"(differs) : [p] "m"(*p), [value] "r"(value));
	return differs;
#else
	return READ_ONCE(*p) != value;
#endif
}

/* Returns whether *p is less than `value`. */
static __always_inline bool fkt_local_is_less32(const u32 *p, u32 value)
{
#ifdef FKT_RING_ONE_CPU
	bool is_less;

	asm volatile("cmpl %[p], %[value]" : "=@cca"(is_less) : [p] "m"(*p), [value] "r"(value));
	return is_less;
#else
	return READ_ONCE(*p) < value;
#endif
}

/* Returns value - *p. */
static __always_inline u64 fkt_local_sub_from(const u64 *p, u64 value)
{
#ifdef FKT_RING_ONE_CPU
	asm volatile("subq %[p], %[value]" : [value] "+r"(value) : [p] "m"(*p) : "cc");
	return value;
#else
	return value - READ_ONCE(*p);
#endif
}

/*
 * The same for the ring of the CPU that runs this code, addressed from the CPU's base of per-CPU data (gs), which saves
 * the additions. Assembler throughout: compilers instrument their own accesses to that segment wrongly for KASAN.
 */
#ifdef __KERNEL__
#define FKT_RING_HERE __seg_gs
#else
#define FKT_RING_HERE
#endif

static __always_inline u64 fkt_here_read(const u64 FKT_RING_HERE *p)
{
#ifdef __KERNEL__
	u64 value;

	asm volatile("movq %[p], %[value]" : [value] "=r"(value) : [p] "m"(*p));
	return value;
#else
	return READ_ONCE(*p);
#endif
}

static __always_inline void fkt_here_write(u64 FKT_RING_HERE *p, u64 value)
{
#ifdef __KERNEL__
	asm volatile("movq %[value], %[p]" : [p] "=m"(*p) : [value] "r"(value));
#else
	WRITE_ONCE(*p, value);
#endif
}

/* Stores new_ in *p if it has the value *old, and returns true; otherwise sets *old to the value of *p. */
static __always_inline bool fkt_here_cmpxchg(u64 FKT_RING_HERE *p, u64 *old, u64 new_)
{
#ifdef __KERNEL__
	bool done;

	asm volatile("cmpxchgq %[new_], %[p]"
		     : "=@ccz"(done), [p] "+m"(*p), "+a"(*old)
		     : [new_] "r"(new_)
		     : "memory");
	return done;
#else
	return fkt_local_cmpxchg(p, *old, new_);
#endif
}

static __always_inline bool fkt_here_differs32(const u32 FKT_RING_HERE *p, u32 value)
{
#ifdef __KERNEL__
	bool differs;

	asm volatile("cmpl %[p], %[value]" : "=@ccnz"(differs) : [p] "m"(*p), [value] "r"(value));
	return differs;
#else
	return READ_ONCE(*p) != value;
#endif
}

/* Returns value - *p. */
static __always_inline u64 fkt_here_sub_from(const u64 FKT_RING_HERE *p, u64 value)
{
#ifdef __KERNEL__
	asm volatile("subq %[p], %[value]" : [value] "+r"(value) : [p] "m"(*p) : "cc");
	return value;
#else
	return value - READ_ONCE(*p);
#endif
}

#endif /* FKT_RING_LOCAL_H */
