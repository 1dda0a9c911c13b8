// SPDX-License-Identifier: GPL-2.0-only
/* Layer system: local APIC vectors, NMIs. */

#include <asm/nmi.h>
#include <asm/trace/irq_vectors.h>
#include <trace/events/nmi.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "arch/arch.h"
#include "base/compat.h"
#include "base/hook.h"
#include "ring/write.h"

static __always_inline bool keep(void)
{
	return fkt_layer_on(FKT_L_SYSTEM) && fkt_keep_machine();
}

/* ---- local APIC vectors ---- */

static void probe_vector_entry(void *data, int vector)
{
	if (keep() && !fkt_begin(VECTOR, vector))
		fkt_emit0(FKT_E_VECTOR_ENTRY, vector);
}

static void probe_vector_exit(void *data, int vector)
{
	if (keep() && !fkt_end_of(VECTOR, vector, 0))
		fkt_emit0(FKT_E_VECTOR_EXIT, vector);
}

/* ---- NMIs ---- */

/* First of the NMI handlers: one event per NMI, whichever handler it is for. */
static int probe_nmi(unsigned int type, struct pt_regs *regs)
{
	if (keep())
		fkt_emit0(FKT_E_NMI, 0);
	return NMI_DONE;
}

static void probe_nmi_handler(void *data, void *handler, s64 delta_ns, int handled)
{
	u64 words[] = { (unsigned long)handler, delta_ns };

	if (handler != probe_nmi && keep())
		fkt_emit(FKT_E_NMI_HANDLER, handled, words, ARRAY_SIZE(words));
}

static int nmi_on(void)
{
	return register_nmi_handler(NMI_LOCAL, probe_nmi, NMI_FLAG_FIRST, "fkt");
}

static void nmi_off(void)
{
	unregister_nmi_handler(NMI_LOCAL, "fkt");
}

#define FOR_EACH_VECTOR(DO)           \
	DO(local_timer)               \
	DO(reschedule)                \
	DO(call_function)             \
	DO(call_function_single)      \
	DO(irq_work)                  \
	DO(x86_platform_ipi)          \
	DO(spurious_apic)             \
	DO(error_apic)                \
	FKT_THRESHOLD_VECTOR(DO)      \
	FKT_DEFERRED_ERROR_VECTOR(DO) \
	FKT_THERMAL_VECTOR(DO)

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_nmi_handler(probe_nmi_handler);
#define CHECK(vector)                                                   \
	check_trace_callback_type_##vector##_entry(probe_vector_entry); \
	check_trace_callback_type_##vector##_exit(probe_vector_exit);
	FOR_EACH_VECTOR(CHECK)
}

#define VECTOR_HOOKS(vector)                                               \
	FKT_ON_TRACEPOINT(vector##_exit, probe_vector_exit, SYSTEM),       \
	FKT_ON_TRACEPOINT(vector##_entry, probe_vector_entry, SYSTEM),

static struct fkt_hook hooks[] = {
	FOR_EACH_VECTOR(VECTOR_HOOKS)
	FKT_ON_TRACEPOINT(nmi_handler, probe_nmi_handler, SYSTEM),
	{ .name = "NMI handler", .on = nmi_on, .off = nmi_off,
	  .layers = 1ULL << FKT_L_SYSTEM, .shows = "the begin of NMIs" },
};

FKT_HOOK_TABLE(fkt_vector_hooks, hooks);
