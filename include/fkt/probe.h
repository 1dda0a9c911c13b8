/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Probes in other kernel modules. This file is all that a module needs: no symbol of fkt.ko, no order of loading, no
 * change when FKT is not there. docs/your-module.md shows a whole module.
 *
 * An event with a name and fields, defined once per file (or in a header of several files), and its places:
 *
 *	FKT_DEFINE_EVENT(block, request_done, FKT_U64(sector), FKT_S32(error), FKT_STR(queue, 16));
 *	...
 *	FKT_TRACE(request_done, blk_rq_pos(rq), error, q->name);
 *
 * A code and up to six numbers, without a definition:
 *
 *	FKT_PROBE2(block, MY_DRIVER_RESET, channel, status);
 *
 * The first argument is the layer (man fkt-events.7) whose bit in the mask switches the probe. `fkt_record -i
 * 'mod:my_driver:*'` records them all, by the names request_done and MY_DRIVER_RESET.
 *
 * While a probe is not recorded it is a jump that is patched out: its arguments are not evaluated, so they must have no
 * side effects. Probes may stand wherever tracepoints may: in any context, NMIs included, but not where RCU does not
 * watch (idle loops). The text of FKT_STR is read when the probe is hit; its address may be invalid.
 *
 * How it works: each probe is a tracepoint of the kernel's, whose name is the probe's description:
 *
 *	fkt1 LAYER NAME [FIELD=TYPE ...]	fkt1 block request_done sector=u64 error=s32 queue=str16
 *
 * The kernel tells fkt.ko of each module with tracepoints that comes or goes; fkt.ko compares descriptions with those
 * that are to be recorded, and registers its function with those that are equal. So a module that comes while a
 * recording runs is recorded from its first instruction on, and one that has changed since the recorder read its
 * description is not recorded wrongly. A section with descriptors of its own would have to be found through symbols
 * that are not exported; a tracepoint by the kernel's own macros would need a definition for each place, and has no
 * room for a description. All probes have one prototype, so nothing is called with arguments that it does not expect.
 *
 * For modules with a licence that is compatible with the GPL: the kernel hides other modules' tracepoints.
 * Without CONFIG_TRACEPOINTS probes are nothing.
 */
#ifndef FKT_PROBE_H
#define FKT_PROBE_H

#define FKT_PROBE_MAGIC "fkt1 "
#define FKT_PROBE_TEXT_BYTES 512 /* of a description, including the terminating zero */
#define FKT_PROBE_FIELDS 12 /* at most, of one event */

#ifdef __KERNEL__

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

/* A function that is registered with a probe. values: a word for each field, in their order; a text's address. */
typedef void fkt_probe_fn(void *data, const u64 *values, unsigned int count);

/* Fields of FKT_DEFINE_EVENT. */
#define FKT_U8(name) (u8, name, #name "=u8")
#define FKT_U16(name) (u16, name, #name "=u16")
#define FKT_U32(name) (u32, name, #name "=u32")
#define FKT_U64(name) (u64, name, #name "=u64")
#define FKT_S8(name) (s8, name, #name "=s8")
#define FKT_S16(name) (s16, name, #name "=s16")
#define FKT_S32(name) (s32, name, #name "=s32")
#define FKT_S64(name) (s64, name, #name "=s64")
#define FKT_PTR(name) (const void *, name, #name "=ptr")
/* A text's first bytes, up to its zero. bytes: a literal: 8, 16, 24 ... 64. */
#define FKT_STR(name, bytes) (const char *, name, #name "=str" #bytes)

#if defined(CONFIG_TRACEPOINTS) && defined(CONFIG_HAVE_ARCH_PREL32_RELOCATIONS)

/* Calls what is registered with a probe, as the kernel does with a tracepoint's functions. */
static noinline __maybe_unused notrace void fkt_probe_hit(struct tracepoint *point, const u64 *values,
							  unsigned int count)
{
	const struct tracepoint_func *func;

	/* The kernel waits for such sections before it frees an array of functions. */
	preempt_disable_notrace();
	func = rcu_dereference_raw(point->funcs);
	if (func && cpu_online(raw_smp_processor_id()))
		for (; func->func; func++)
			((fkt_probe_fn *)func->func)(func->data, values, count);
	preempt_enable_notrace();
}

/* count: of `code` and the numbers; the others are 0. */
static noinline __cold __maybe_unused notrace
void fkt_probe_numbers(struct tracepoint *point, unsigned int count, u32 code, unsigned long a1, unsigned long a2,
		       unsigned long a3, unsigned long a4, unsigned long a5, unsigned long a6)
{
	const u64 values[] = { code, a1, a2, a3, a4, a5, a6 };

	fkt_probe_hit(point, values, count);
}

#define FKT_PROBE_IS_ON_(point) static_key_false((struct static_key *)&(point).key)
#define FKT_PROBE_POINT_(text) { .name = FKT_PROBE_MAGIC text }
/* Lists a tracepoint among the module's. */
#define FKT_PROBE_LIST_(point) ".pushsection __tracepoints_ptrs,\"a\"\n.balign 4\n.long " point " - .\n.popsection\n"

#define FKT_DEFINE_EVENT(layer, name, ...)								\
	static struct tracepoint __used fkt_point_##name =						\
		FKT_PROBE_POINT_(#layer " " #name FKT_EACH_(FKT_FIELD_TEXT_, FKT_NOTHING_, ##__VA_ARGS__));	\
	asm(FKT_PROBE_LIST_("fkt_point_" #name));							\
	static noinline __cold __maybe_unused notrace							\
	void fkt_hit_##name(FKT_EACH_(FKT_FIELD_PARAMETER_, FKT_COMMA_, ##__VA_ARGS__))			\
	{												\
		const u64 fkt_values_[FKT_COUNT_(__VA_ARGS__) + 1] = {			\
			FKT_EACH_(FKT_FIELD_VALUE_, FKT_COMMA_, ##__VA_ARGS__)				\
		};											\
		fkt_probe_hit(&fkt_point_##name, fkt_values_, FKT_COUNT_(__VA_ARGS__));			\
	}												\
	static_assert(true)

#define FKT_TRACE(name, ...)										\
	do {												\
		if (FKT_PROBE_IS_ON_(fkt_point_##name))							\
			fkt_hit_##name(__VA_ARGS__);							\
	} while (0)

#define FKT_PROBE_(text, ...)										\
	do {												\
		static struct tracepoint fkt_point_ = FKT_PROBE_POINT_(text);				\
		asm volatile(FKT_PROBE_LIST_("%c0") : : "i" (&fkt_point_));				\
		if (FKT_PROBE_IS_ON_(fkt_point_))							\
			fkt_probe_numbers(&fkt_point_, __VA_ARGS__);					\
	} while (0)

#else

#define FKT_DEFINE_EVENT(layer, name, ...)								\
	static __always_inline __maybe_unused								\
	void fkt_hit_##name(FKT_EACH_(FKT_FIELD_PARAMETER_, FKT_COMMA_, ##__VA_ARGS__)) {}		\
	static_assert(true)

#define FKT_TRACE(name, ...)										\
	do {												\
		if (0)											\
			fkt_hit_##name(__VA_ARGS__);							\
	} while (0)

static inline __maybe_unused
void fkt_probe_numbers(unsigned int count, u32 code, unsigned long a1, unsigned long a2, unsigned long a3,
		       unsigned long a4, unsigned long a5, unsigned long a6)
{
}

#define FKT_PROBE_(text, ...)										\
	do {												\
		if (0)											\
			fkt_probe_numbers(__VA_ARGS__);							\
	} while (0)

#endif

/* code: a constant, which is recorded as `code`; the event's name is as it is written here. */
#define FKT_PROBE0(layer, code) \
	FKT_PROBE_(#layer " " #code " code=u32", 1, FKT_CODE_(code), 0, 0, 0, 0, 0, 0)
#define FKT_PROBE1(layer, code, a1) \
	FKT_PROBE_(#layer " " #code " code=u32 a1=s64", 2, FKT_CODE_(code), FKT_NUMBER_(a1), 0, 0, 0, 0, 0)
#define FKT_PROBE2(layer, code, a1, a2) \
	FKT_PROBE_(#layer " " #code " code=u32 a1=s64 a2=s64", 3, FKT_CODE_(code), \
		   FKT_NUMBER_(a1), FKT_NUMBER_(a2), 0, 0, 0, 0)
#define FKT_PROBE3(layer, code, a1, a2, a3) \
	FKT_PROBE_(#layer " " #code " code=u32 a1=s64 a2=s64 a3=s64", 4, FKT_CODE_(code), \
		   FKT_NUMBER_(a1), FKT_NUMBER_(a2), FKT_NUMBER_(a3), 0, 0, 0)
#define FKT_PROBE4(layer, code, a1, a2, a3, a4) \
	FKT_PROBE_(#layer " " #code " code=u32 a1=s64 a2=s64 a3=s64 a4=s64", 5, FKT_CODE_(code), \
		   FKT_NUMBER_(a1), FKT_NUMBER_(a2), FKT_NUMBER_(a3), FKT_NUMBER_(a4), 0, 0)
#define FKT_PROBE5(layer, code, a1, a2, a3, a4, a5) \
	FKT_PROBE_(#layer " " #code " code=u32 a1=s64 a2=s64 a3=s64 a4=s64 a5=s64", 6, FKT_CODE_(code), \
		   FKT_NUMBER_(a1), FKT_NUMBER_(a2), FKT_NUMBER_(a3), FKT_NUMBER_(a4), FKT_NUMBER_(a5), 0)
#define FKT_PROBE6(layer, code, a1, a2, a3, a4, a5, a6) \
	FKT_PROBE_(#layer " " #code " code=u32 a1=s64 a2=s64 a3=s64 a4=s64 a5=s64 a6=s64", 7, FKT_CODE_(code), \
		   FKT_NUMBER_(a1), FKT_NUMBER_(a2), FKT_NUMBER_(a3), FKT_NUMBER_(a4), FKT_NUMBER_(a5), FKT_NUMBER_(a6))

#define FKT_NUMBER_(a) (unsigned long)(a)
#define FKT_CODE_(code) ((u32)(code) + BUILD_BUG_ON_ZERO(!__builtin_constant_p(code)))

#define FKT_FIELD_TEXT_(type, name, text) " " text
#define FKT_FIELD_TEXT_0
#define FKT_FIELD_PARAMETER_(type, name, text) type name
#define FKT_FIELD_PARAMETER_0 void
#define FKT_FIELD_VALUE_(type, name, text) (unsigned long)(name)
#define FKT_FIELD_VALUE_0

/* use FIELD between FIELD ...; a field is (type, name, text). */
#define FKT_EACH_(use, between, ...) FKT_EACH_OF_(FKT_COUNT_(__VA_ARGS__), use, between, ##__VA_ARGS__)
#define FKT_EACH_OF_(count, ...) FKT_EACH_OF__(count, __VA_ARGS__)
#define FKT_EACH_OF__(count, ...) FKT_EACH_##count(__VA_ARGS__)
#define FKT_EACH_0(use, between) use##0
#define FKT_EACH_1(use, between, a) use a
#define FKT_EACH_2(use, between, a, ...) use a between() FKT_EACH_1(use, between, __VA_ARGS__)
#define FKT_EACH_3(use, between, a, ...) use a between() FKT_EACH_2(use, between, __VA_ARGS__)
#define FKT_EACH_4(use, between, a, ...) use a between() FKT_EACH_3(use, between, __VA_ARGS__)
#define FKT_EACH_5(use, between, a, ...) use a between() FKT_EACH_4(use, between, __VA_ARGS__)
#define FKT_EACH_6(use, between, a, ...) use a between() FKT_EACH_5(use, between, __VA_ARGS__)
#define FKT_EACH_7(use, between, a, ...) use a between() FKT_EACH_6(use, between, __VA_ARGS__)
#define FKT_EACH_8(use, between, a, ...) use a between() FKT_EACH_7(use, between, __VA_ARGS__)
#define FKT_EACH_9(use, between, a, ...) use a between() FKT_EACH_8(use, between, __VA_ARGS__)
#define FKT_EACH_10(use, between, a, ...) use a between() FKT_EACH_9(use, between, __VA_ARGS__)
#define FKT_EACH_11(use, between, a, ...) use a between() FKT_EACH_10(use, between, __VA_ARGS__)
#define FKT_EACH_12(use, between, a, ...) use a between() FKT_EACH_11(use, between, __VA_ARGS__)
#define FKT_NOTHING_()
#define FKT_COMMA_() ,

#define FKT_COUNT_(...) FKT_COUNT_OF_(0, ##__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define FKT_COUNT_OF_(zero, a, b, c, d, e, f, g, h, i, j, k, l, count, ...) count

#endif /* __KERNEL__ */

#endif /* FKT_PROBE_H */
