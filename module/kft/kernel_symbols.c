// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists the symbols of the kernel and its modules (kernel_symbols.h).
 *
 * The kernel exports no function that does it. Those that do are found by their names.
 */

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>

#include "arch/kernel_names.h"
#include "base/compat.h"
#include "calls/traceable.h"
#include "kernel_symbols.h"

/* ---- functions of the kernel that are not exported ---- */

DEFINE_STATIC_CALL_RET0(fkt_kft_kernel_symbols, kallsyms_on_each_symbol);
DEFINE_STATIC_CALL_RET0(fkt_kft_module_symbols, module_kallsyms_on_each_symbol);
/* Must be called with preemption disabled. */
DEFINE_STATIC_CALL_RET0(fkt_kft_module_of, __module_address);
/* As above; returns NULL if there is no module's code at the address. */
DEFINE_STATIC_CALL_RET0(fkt_kft_module_of_code, __module_text_address);
DEFINE_STATIC_CALL_RET0(fkt_kft_within_blacklist, within_kprobe_blacklist);

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
	*tracer = (struct fkt_kft_tracer){ .symbol = symbol_get(fkt_calls_symbol) };
	if (tracer->symbol)
		tracer->may_trace = symbol_get(fkt_calls_may_trace);
	if (!tracer->may_trace) {
		fkt_kft_tracer_put(tracer);
		return -ENOPKG;
	}
	if (!fkt_set_call(fkt_kft_kernel_symbols, tracer->symbol("kallsyms_on_each_symbol"))) {
		fkt_kft_tracer_put(tracer);
		return -ENOENT;
	}
	/* Without these, functions of modules are not found. */
	if (fkt_set_call(fkt_kft_module_of, tracer->symbol("__module_address")) &&
	    fkt_set_call(fkt_kft_module_of_code, tracer->symbol("__module_text_address")))
		fkt_set_call(fkt_kft_module_symbols, tracer->symbol("module_kallsyms_on_each_symbol"));
	fkt_set_call(fkt_kft_within_blacklist, tracer->symbol("within_kprobe_blacklist"));
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
