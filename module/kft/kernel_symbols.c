// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists the symbols of the kernel and its modules (kernel_symbols.h).
 *
 * The kernel exports no function that does it. Those that do are found by their names, as in calls/traceable.c, and are
 * called by static calls for the same reason.
 */

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/static_call.h>

#include "base/compat.h"
#include "calls/traceable.h"
#include "kernel_symbols.h"

/* ---- functions of the kernel that are not exported ---- */

static int no_symbols(fkt_symbol_fn fn, void *data)
{
	return 0;
}

static int no_module_symbols(FKT_SYMBOLS_OF_TYPE fkt_symbol_fn fn, void *data)
{
	return 0;
}

static struct module *no_module(unsigned long address)
{
	return NULL;
}

static struct module *any_module(unsigned long address)
{
	return THIS_MODULE;
}

static bool not_unprobed(unsigned long address)
{
	return false;
}

FKT_STANDS_FOR(no_symbols, kallsyms_on_each_symbol);
FKT_STANDS_FOR(no_module_symbols, module_kallsyms_on_each_symbol);
FKT_STANDS_FOR(no_module, __module_address);
FKT_STANDS_FOR(any_module, __module_text_address);
FKT_STANDS_FOR(not_unprobed, within_kprobe_blacklist);

DEFINE_STATIC_CALL(fkt_kft_kernel_symbols, no_symbols);
DEFINE_STATIC_CALL(fkt_kft_module_symbols, no_module_symbols);
/* Must be called with preemption disabled. */
DEFINE_STATIC_CALL(fkt_kft_module_of, no_module);
/* As above; returns NULL if there is no module's code at the address. */
DEFINE_STATIC_CALL(fkt_kft_module_of_code, any_module);
DEFINE_STATIC_CALL(fkt_kft_within_blacklist, not_unprobed);

/* ---- the module fkt_calls ---- */

void fkt_kft_tracer_put(const struct fkt_kft_tracer *tracer)
{
	if (tracer->symbol)
		symbol_put(fkt_calls_symbol);
	if (tracer->may_trace)
		symbol_put(fkt_calls_may_trace);
}

/* Returns -ENOPKG if the module fkt_calls is not loaded, -ENOENT if the kernel does not list its symbols. */
int fkt_kft_tracer_get(struct fkt_kft_tracer *tracer)
{
	void *found;

	*tracer = (struct fkt_kft_tracer){ .symbol = symbol_get(fkt_calls_symbol) };
	if (tracer->symbol)
		tracer->may_trace = symbol_get(fkt_calls_may_trace);
	if (!tracer->may_trace) {
		fkt_kft_tracer_put(tracer);
		return -ENOPKG;
	}
	found = (void *)tracer->symbol("kallsyms_on_each_symbol");
	if (!found) {
		fkt_kft_tracer_put(tracer);
		return -ENOENT;
	}
	static_call_update(fkt_kft_kernel_symbols, found);
	/* Without these two, functions of modules are not found. */
	found = (void *)tracer->symbol("module_kallsyms_on_each_symbol");
	if (found)
		static_call_update(fkt_kft_module_symbols, found);
	found = (void *)tracer->symbol("__module_address");
	if (found)
		static_call_update(fkt_kft_module_of, found);
	found = (void *)tracer->symbol("__module_text_address");
	if (found)
		static_call_update(fkt_kft_module_of_code, found);
	found = (void *)tracer->symbol("within_kprobe_blacklist");
	if (found)
		static_call_update(fkt_kft_within_blacklist, found);
	return 0;
}

/* ---- the symbols ---- */

struct walk {
	fkt_kft_see see;
	void *data;
	int ended; /* by this result */
};

static int see_symbol(void *data, const char *name, FKT_SYMBOL_MODULE unsigned long address)
{
	struct walk *walk = data;

	walk->ended = walk->see(walk->data, name, NULL, address);
	return walk->ended;
}

/*
 * Called with the modules' mutex held, so that no module is freed. A module that is still loading is left out: it may
 * be freed in spite of a reference, if its init fails.
 */
static int see_module_symbol(void *data, const char *name, FKT_SYMBOL_MODULE unsigned long address)
{
	struct walk *walk = data;
	struct module *module;

	preempt_disable();
	module = static_call(fkt_kft_module_of)(address);
	preempt_enable();
	if (!module || READ_ONCE(module->state) != MODULE_STATE_LIVE)
		return 0;
	walk->ended = walk->see(walk->data, name, module, address);
	return walk->ended;
}

/* Calls `see` for each symbol of the kernel, then for those of modules. */
void fkt_kft_each_symbol(fkt_kft_see see, void *data)
{
	struct walk walk = { .see = see, .data = data };

	static_call(fkt_kft_kernel_symbols)(see_symbol, &walk);
	if (!walk.ended)
		static_call(fkt_kft_module_symbols)(FKT_SYMBOLS_OF_ALL see_module_symbol, &walk);
}

/* Returns whether there is code of a module at the address. */
bool fkt_kft_is_module_code(unsigned long address)
{
	bool is_code;

	preempt_disable();
	is_code = static_call(fkt_kft_module_of_code)(address);
	preempt_enable();
	return is_code;
}

/* Returns whether the kernel forbids kprobes at the address. */
bool fkt_kft_is_unprobed(unsigned long address)
{
	return static_call(fkt_kft_within_blacklist)(address);
}
