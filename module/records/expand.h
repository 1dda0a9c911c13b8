/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Expands the events that one header of the kernel defines: FKT_HEADER. For each class of events, the kernel's own
 * TP_STRUCT__entry and TP_fast_assign become a function that fills a record; for each event, an entry of the table
 * (records.h). The stages are those of <trace/trace_events.h>, without the code that writes to ftrace's buffers.
 *
 * Included once for each header, so without a guard.
 */

/* Declares the tracepoints, and the types that the header brings along. */
#include FKT_HEADER

/* From here on, the header expands to what the macros below say. */
#define TRACE_HEADER_MULTI_READ

/* Functions that TP_fast_assign calls: the header defines them only where its tracepoints are defined. */
#undef TRACEPOINTS_ENABLED
#undef DEFINE_TRACE
#undef DEFINE_TRACE_FN
#undef DEFINE_TRACE_SYSCALL
#define DEFINE_TRACE(name, proto, args)
#define DEFINE_TRACE_FN(name, reg, unreg, proto, args)
#define DEFINE_TRACE_SYSCALL(name, reg, unreg, proto, args)
#include "common.h"
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)
#define DEFINE_EVENT(template, name, proto, args)
#define CREATE_TRACE_POINTS
#include FKT_HEADER
#undef CREATE_TRACE_POINTS
#define TRACE_HEADER_MULTI_READ
#include "common.h"

/* The type of the record. */
#include <trace/stages/stage1_struct_define.h>
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	FKT_UNLESS_LEFT_OUT(name)(struct trace_event_raw_##name { struct trace_entry ent; tstruct char __data[]; };)
#undef DEFINE_EVENT
#define DEFINE_EVENT(template, name, proto, args)
#include FKT_HEADER

/* Where the parts of variable length lie. */
#include <trace/stages/stage2_data_offsets.h>
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	FKT_UNLESS_LEFT_OUT(name)(struct trace_event_data_offsets_##name { tstruct; };)
#include FKT_HEADER

/* The fields: the array that the kernel makes the file "format" of. */
#include <trace/stages/stage4_event_fields.h>
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	FKT_UNLESS_LEFT_OUT(name)(static const struct trace_event_fields fkt_fields_##name[] = { tstruct {} };)
#include FKT_HEADER

/* Computes the lengths. */
#include <trace/stages/stage5_get_offsets.h>
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                            \
	FKT_UNLESS_LEFT_OUT(name)                                                                 \
	(static __always_inline int fkt_offsets_##name(                                           \
		struct trace_event_data_offsets_##name *__data_offsets, proto)                    \
	{                                                                                         \
		struct trace_event_raw_##name __maybe_unused *entry;                              \
		int __maybe_unused __item_length;                                                 \
		int __data_size = 0;                                                              \
		tstruct;                                                                          \
		return __data_size;                                                               \
	})
#include FKT_HEADER

/* Fills the record. Its first parameter has the place of a probe's data, so that the arguments stay where they are. */
#include <trace/stages/stage3_trace_output.h>
#include <trace/stages/stage6_event_callback.h>
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                            \
	FKT_UNLESS_LEFT_OUT(name)                                                                 \
	(static notrace u32 fkt_fill_##name(const struct fkt_record_room *__room, proto)          \
	{                                                                                         \
		struct trace_event_data_offsets_##name __maybe_unused __data_offsets;             \
		struct trace_event_raw_##name *entry = __room->record;                            \
		int __more;                                                                       \
		_Static_assert(FKT_ARE_WORDS(args), "passes a structure by value");               \
		__more = fkt_offsets_##name(&__data_offsets, args);                               \
		if (__more < 0 || sizeof(*entry) + __more > __room->bytes)                        \
			return 0;                                                                 \
		tstruct                                                                           \
		{ assign; }                                                                       \
		return sizeof(*entry) + __more;                                                   \
	})
#undef DEFINE_EVENT
#define DEFINE_EVENT(template, name, proto, args)                                                 \
	FKT_UNLESS_LEFT_OUT(template)                                                             \
	(FKT_UNLESS_LEFT_OUT(name)(                                                               \
		static inline void fkt_check_##name(void)                                         \
		{                                                                                 \
			/* The tracepoint passes what the class takes, or this does not compile. */ \
			check_trace_callback_type_##name((void (*)(void *, proto))NULL);          \
		}                                                                                 \
		static const struct fkt_record_type fkt_record_##name = {                         \
			#name, fkt_fields_##template, fkt_fill_##template,                        \
			sizeof(struct trace_event_raw_##template), COUNT_ARGS(args)               \
		};                                                                                \
		static const struct fkt_record_type *const fkt_record_at_##name                   \
			__used __section("fkt_records") = &fkt_record_##name;))
#include FKT_HEADER

#undef TRACE_HEADER_MULTI_READ
#undef TRACE_EVENT
#undef TRACE_EVENT_CONDITION
#undef TRACE_EVENT_FN
#undef TRACE_EVENT_FN_COND
#undef TRACE_EVENT_SYSCALL
#undef TRACE_EVENT_NOP
#undef DECLARE_EVENT_CLASS
#undef DECLARE_EVENT_SYSCALL_CLASS
#undef DECLARE_EVENT_NOP
#undef DEFINE_EVENT
#undef DEFINE_EVENT_FN
#undef DEFINE_EVENT_PRINT
#undef DEFINE_EVENT_CONDITION
#undef DEFINE_EVENT_NOP
#undef DECLARE_TRACE
#undef DECLARE_TRACE_CONDITION
#undef DEFINE_TRACE
#undef DEFINE_TRACE_FN
#undef DEFINE_TRACE_SYSCALL
#undef TRACE_EVENT_FLAGS
#undef TRACE_EVENT_PERF_PERM
#undef FKT_HEADER
/* Headers define these for lists of names, each with its own parameters. */
#undef EM
#undef EMe
