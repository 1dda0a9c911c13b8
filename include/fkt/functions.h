/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Traces a kernel module call by call: its functions, compiled with -finstrument-functions, are two probes of the
 * module's (fkt/probe.h), function_entered and function_left. One of its files, no matter which, has the line
 *
 *	#include <fkt/functions.h>
 *
 * and its Kbuild the line `ccflags-y += -finstrument-functions`, or `CFLAGS_file.o += ...` for some files only. Nothing
 * else is changed. `fkt_record -i 'mod:my_module:function_*'` records them; docs/your-module.md has an example.
 *
 * The compiler instruments all functions, inlined ones too, except those that are declared `inline`, `notrace` or
 * `__exit`. While they are not recorded, an entry and a return cost a call each, of a function in which a jump is
 * patched out. In contrast to `call:` this needs no ftrace, sees static functions that the compiler has inlined, and
 * works in the module's init function; but it has no arguments, results and durations.
 *
 * The probes are in the layer `instruments`, or in FKT_FUNCTIONS_LAYER if that is defined before the line.
 */
#ifndef FKT_FUNCTIONS_H
#define FKT_FUNCTIONS_H

#ifdef __KERNEL__

#include <fkt/probe.h>

#ifndef FKT_FUNCTIONS_LAYER
#define FKT_FUNCTIONS_LAYER instruments
#endif

/* function: its first address. caller: the return address; for an inlined function, a place near it. */
#define FKT_DEFINE_FUNCTIONS_(layer)						\
	FKT_DEFINE_EVENT(layer, function_entered, FKT_PTR(function), FKT_PTR(caller));	\
	FKT_DEFINE_EVENT(layer, function_left, FKT_PTR(function), FKT_PTR(caller))

FKT_DEFINE_FUNCTIONS_(FKT_FUNCTIONS_LAYER);

/* The compiler inserts calls of these names. They belong to the module: each module has its own. */
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

notrace void __cyg_profile_func_enter(void *function, void *caller)
{
	FKT_TRACE(function_entered, function, caller);
}

notrace void __cyg_profile_func_exit(void *function, void *caller)
{
	FKT_TRACE(function_left, function, caller);
}

#endif /* __KERNEL__ */
#endif /* FKT_FUNCTIONS_H */
