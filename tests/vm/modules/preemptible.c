// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts how often instructions of fkt.ko, those that reserve space in a CPU's ring, run with preemption on: the task
 * could be moved to another CPU between them. For tests/vm/cases/reserves_unpreempted. To prove that it sees that, it
 * also has a breakpoint on a function of its own, which it calls with preemption on. When it is unloaded, it logs the
 * counts, and which instruction was one of those with preemption on.
 *
 *   insmod preemptible.ko probes=0x...,0x...
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <asm/processor-flags.h>

#define MOST_PROBES 256
#define OWN_CALLS 100

static unsigned long probes[MOST_PROBES];
static unsigned int probes_n;
module_param_array(probes, ulong, &probes_n, 0444);
MODULE_PARM_DESC(probes, "addresses of instructions");

struct counts {
	unsigned long hits, preemptible;
};

static DEFINE_PER_CPU(struct counts, fkts);
static DEFINE_PER_CPU(struct counts, own);
static struct kprobe kprobes[MOST_PROBES];
static unsigned long found; /* any of them: lockless */
static struct kprobe *registered[MOST_PROBES];

/* The breakpoint itself counts as an NMI, and as one hard interrupt. */
static bool was_preemptible(const struct pt_regs *regs)
{
	return (preempt_count() & ~(NMI_MASK | HARDIRQ_MASK | PREEMPT_NEED_RESCHED)) == 0 &&
	       (preempt_count() & HARDIRQ_MASK) <= HARDIRQ_OFFSET && regs->flags & X86_EFLAGS_IF;
}

static int on_hit(struct kprobe *kprobe, struct pt_regs *regs)
{
	this_cpu_inc(fkts.hits);
	if (was_preemptible(regs)) {
		this_cpu_inc(fkts.preemptible);
		WRITE_ONCE(found, (unsigned long)kprobe->addr);
	}
	return 0;
}
NOKPROBE_SYMBOL(on_hit);

static int on_own(struct kprobe *kprobe, struct pt_regs *regs)
{
	this_cpu_inc(own.hits);
	if (was_preemptible(regs))
		this_cpu_inc(own.preemptible);
	return 0;
}
NOKPROBE_SYMBOL(on_own);

noinline notrace void preemptible_place(void);
noinline notrace void preemptible_place(void)
{
	barrier();
}

static struct kprobe own_kprobe = { .symbol_name = "preemptible_place", .pre_handler = on_own };

static int __init preemptible_init(void)
{
	unsigned int i;
	int err = register_kprobe(&own_kprobe);

	if (err)
		return err;
	for (i = 0; i < OWN_CALLS; i++)
		preemptible_place();
	for (i = 0; i < probes_n; i++) {
		kprobes[i].addr = (kprobe_opcode_t *)probes[i];
		kprobes[i].pre_handler = on_hit;
		registered[i] = &kprobes[i];
	}
	err = register_kprobes(registered, probes_n);
	if (err)
		unregister_kprobe(&own_kprobe);
	return err;
}

static void __exit preemptible_exit(void)
{
	struct counts sum = {}, own_sum = {};
	unsigned int cpu;

	unregister_kprobes(registered, probes_n);
	unregister_kprobe(&own_kprobe);
	for_each_possible_cpu(cpu) {
		sum.hits += per_cpu(fkts, cpu).hits;
		sum.preemptible += per_cpu(fkts, cpu).preemptible;
		own_sum.hits += per_cpu(own, cpu).hits;
		own_sum.preemptible += per_cpu(own, cpu).preemptible;
	}
	pr_notice("hits %lu preemptible %lu own %lu preemptible %lu at %pS\n", sum.hits, sum.preemptible, own_sum.hits,
		  own_sum.preemptible, (void *)found);
}

module_init(preemptible_init);
module_exit(preemptible_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Whether FKT's probes can be preempted, for its tests");
