// SPDX-License-Identifier: GPL-2.0-only
/* Which functions may be traced (traceable.h). */

#include <linux/bsearch.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "arch/arch.h"
#include "arch/kernel_names.h"
#include "base/compat.h"
#include "traceable.h"

/* ---- functions of the kernel that are not exported ---- */

DEFINE_STATIC_CALL_RET0(fkt_calls_lookup_name, kallsyms_lookup_name);
/* Returns the address of the nop at this address, or of the function that begins there; 0: ftrace knows none. */
DEFINE_STATIC_CALL_RET0(fkt_calls_location, ftrace_location);
/* Returns the target of another user's direct call at the nop (BPF sets one); 0: there is none. Any context. */
DEFINE_STATIC_CALL_RET0(fkt_calls_direct, ftrace_find_rec_direct);
/* Called with preemption disabled. */
DEFINE_STATIC_CALL_RET0(fkt_calls_module_of, __module_address);
DEFINE_STATIC_CALL_RET0(fkt_calls_each_symbol, kallsyms_on_each_symbol);

static unsigned long find(const char *name)
{
	return static_call(fkt_calls_lookup_name)(name);
}

static int find_kernel_functions(void)
{
	void *lookup = fkt_find_lookup_name();

	if (IS_ERR(lookup))
		return PTR_ERR(lookup);
	static_call_update(fkt_calls_lookup_name, lookup);
	if (!fkt_set_call(fkt_calls_location, find("ftrace_location")) ||
	    !fkt_set_call(fkt_calls_module_of, find("__module_address")))
		return -ENOENT;
	if (!fkt_set_call(fkt_calls_direct, find("ftrace_find_rec_direct")) &&
	    IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS))
		return -ENOENT;
	return 0;
}

/* ---- functions whose calls do not return ---- */

static const char *never_return[] __initdata = {
#define FKT_NEVER_RETURNS(name) #name,
#include <fkt/never_return.def>
#undef FKT_NEVER_RETURNS
};

/* The addresses of these functions in vmlinux. Two slots a name: static functions of two files may share one. */
static unsigned long forbidden[2 * ARRAY_SIZE(never_return)];
static unsigned int forbidden_count;

/* Largest distance of a function's nop from its begin (bytes). */
#define NEAR 16

static bool is_forbidden(unsigned long address)
{
	unsigned int i;

	for (i = 0; i < forbidden_count; i++)
		if (address - forbidden[i] < NEAR)
			return true;
	return false;
}

static int __init compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int __init see_symbol(void *unused_data, const char *name, FKT_SYMBOL_MODULE unsigned long address)
{
	if (!bsearch(&name, never_return, ARRAY_SIZE(never_return), sizeof(*never_return), compare_names))
		return 0;
	if (forbidden_count == ARRAY_SIZE(forbidden))
		return -E2BIG;
	forbidden[forbidden_count++] = address;
	return 0;
}

/* All names in one pass: 6.1 looks through all symbols for a single one, too. */
static int __init forbid(void)
{
	if (!fkt_set_call(fkt_calls_each_symbol, find("kallsyms_on_each_symbol")))
		return -ENOENT;
	sort(never_return, ARRAY_SIZE(never_return), sizeof(*never_return), compare_names, NULL);
	return static_call(fkt_calls_each_symbol)(see_symbol, NULL);
}

int __init fkt_functions_init(void)
{
	return find_kernel_functions() ?: forbid();
}

/* Returns the address of the kernel's or a module's symbol; 0: there is none. May sleep. */
unsigned long fkt_calls_symbol(const char *name)
{
	return static_call(fkt_calls_lookup_name)(name);
}
EXPORT_SYMBOL_GPL(fkt_calls_symbol);

/* Returns whether another user has set a direct call at this nop. Any context. */
bool fkt_functions_direct(unsigned long nop)
{
	return static_call(fkt_calls_direct)(nop);
}

/* ---- what is allowed ---- */

/*
 * Returns whether the function's memory is freed only after fkt_traced_drop() was called for its module. That of a
 * module that is being loaded or unloaded may be freed without such a call, and so may a module's init code.
 */
bool fkt_calls_stays(unsigned long function)
{
	const struct module *module;
	bool stays;

	if (function < MODULES_VADDR || function >= MODULES_END)
		return true;
	preempt_disable();
	module = static_call(fkt_calls_module_of)(function);
	stays = module && module->state == MODULE_STATE_LIVE && !within_module_init(function, module);
	preempt_enable();
	return stays;
}
EXPORT_SYMBOL_GPL(fkt_calls_stays);

/* Returns the address of the function's nop; 0: `address` is neither a nop nor the begin of a function that has one. */
static unsigned long nop_of(unsigned long function)
{
	unsigned long nop = function;
	u32 first;

	if (copy_from_kernel_nofault(&first, (void *)function, sizeof(first)))
		return 0;
	if (fkt_is_endbr(first))
		nop += FKT_ENDBR_BYTES;
	/* ftrace accepts any address within a nop; only its first byte identifies the function. */
	return static_call(fkt_calls_location)(nop) == nop ? nop : 0;
}

/* Returns whether the whole calls of the function that begins at this address can be traced at present. */
bool fkt_calls_may_trace(unsigned long function)
{
	return !is_forbidden(function) && fkt_calls_stays(function) && nop_of(function);
}
EXPORT_SYMBOL_GPL(fkt_calls_may_trace);

static int compare(const void *a, const void *b)
{
	const unsigned long left = *(const unsigned long *)a, right = *(const unsigned long *)b;

	return left < right ? -1 : left > right;
}

/* Sorts the addresses and removes duplicates. Returns how many are left. */
static unsigned int order(unsigned long *functions, unsigned int count)
{
	unsigned int i, kept = 0;

	for (i = 1; i < count && functions[i - 1] < functions[i]; i++)
		;
	if (i < count)
		sort(functions, count, sizeof(*functions), compare, NULL);
	for (i = 0; i < count; i++)
		if (!kept || functions[kept - 1] != functions[i])
			functions[kept++] = functions[i];
	return kept;
}

/*
 * Replaces functions' addresses by those of their nops, in ascending order. Leaves out functions of modules that are
 * not loaded (any more), and with must_return those that do not return. Returns how many are left, or -EINVAL: an
 * address is not a function's, or its function cannot be traced.
 */
int fkt_functions_allow(unsigned long *functions, unsigned int count, bool must_return)
{
	unsigned int i, kept = 0;

	for (i = 0; i < count; i++) {
		unsigned long nop;

		if ((must_return && is_forbidden(functions[i])) || !fkt_calls_stays(functions[i]))
			continue;
		nop = nop_of(functions[i]);
		if (!nop)
			return -EINVAL;
		functions[kept++] = nop;
	}
	return order(functions, kept);
}

/* As fkt_functions_allow(), for traced functions: addresses that are no functions any more are left out. */
unsigned int fkt_functions_known(unsigned long *functions, unsigned int count)
{
	unsigned int i, kept = 0;

	for (i = 0; i < count; i++) {
		unsigned long nop = nop_of(functions[i]);

		if (nop)
			functions[kept++] = nop;
	}
	return order(functions, kept);
}
