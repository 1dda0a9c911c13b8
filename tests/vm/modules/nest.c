// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes nested events, for tests/vm/cases/storm: a timer on every CPU, in hard interrupt context, which
 * sometimes sends its CPU an NMI; and kprobes on instructions of fkt.ko (the case passes the addresses of
 * those that reserve space), whose handlers raise a softirq or send an NMI, so that FKT's probes are entered
 * while one of them is reserving. When the module is unloaded, it logs what it did.
 *
 *   insmod nest.ko period_us=300 probes=0x...,0x...
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "../../../module/base/kernel_has"

#define MOST_PROBES 256
/* One in so many of the timer's ticks and of the kprobes' hits has an effect. */
#define TICKS_PER_NMI 4
#define HITS_PER_SOFTIRQ 16
#define HITS_PER_NMI 64

static unsigned int period_us = 300;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "of each CPU's timer");

static unsigned long probes[MOST_PROBES];
static unsigned int probes_n;
module_param_array(probes, ulong, &probes_n, 0444);
MODULE_PARM_DESC(probes, "addresses of instructions");

struct counts {
	unsigned long ticks, hits, raised, nmis;
};

static DEFINE_PER_CPU(struct counts, counts);
static DEFINE_PER_CPU(struct hrtimer, timer);
static DEFINE_PER_CPU(struct tasklet_struct, tasklet);
static DEFINE_PER_CPU(unsigned long, nmis_sent);
static struct kprobe kprobes[MOST_PROBES];
static struct kprobe *registered[MOST_PROBES];

static void send_nmi(void)
{
	this_cpu_inc(nmis_sent);
	apic->send_IPI_self(NMI_VECTOR);
}

/* Handles only NMIs that this module sent; others with the same vector could be mistaken for them. */
static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!this_cpu_read(nmis_sent))
		return NMI_DONE;
	this_cpu_write(nmis_sent, 0);
	this_cpu_inc(counts.nmis);
	return NMI_HANDLED;
}

static enum hrtimer_restart on_tick(struct hrtimer *t)
{
	if (this_cpu_inc_return(counts.ticks) % TICKS_PER_NMI == 0)
		send_nmi();
	hrtimer_forward_now(t, ns_to_ktime(period_us * 1000ULL));
	return HRTIMER_RESTART;
}

static void on_softirq(struct tasklet_struct *unused)
{
}

/* The breakpoint itself counts as an NMI, so the count must be higher. */
static bool in_true_nmi(void)
{
	return (preempt_count() & NMI_MASK) >> NMI_SHIFT > 1;
}

/* Called with interrupts off. In an NMI nothing may be raised. */
static int on_hit(struct kprobe *kprobe, struct pt_regs *regs)
{
	unsigned long hits;

	if (in_true_nmi())
		return 0;
	hits = this_cpu_inc_return(counts.hits);
	if (hits % HITS_PER_SOFTIRQ == 0) {
		struct tasklet_struct *t = this_cpu_ptr(&tasklet);

		if (!test_bit(TASKLET_STATE_SCHED, &t->state))
			this_cpu_inc(counts.raised);
		tasklet_schedule(t);
	}
	if (hits % HITS_PER_NMI == 0)
		send_nmi();
	return 0;
}
NOKPROBE_SYMBOL(on_hit);

static int cpu_comes(unsigned int cpu)
{
	struct hrtimer *t = this_cpu_ptr(&timer);

#ifdef FKT_HAS_HRTIMER_SETUP
	hrtimer_setup(t, on_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	t->function = on_tick;
#endif
	hrtimer_start(t, ns_to_ktime(period_us * 1000ULL), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	hrtimer_cancel(this_cpu_ptr(&timer));
	return 0;
}

static int online;

static int __init nest_init(void)
{
	unsigned int i, cpu;
	int err;

	/* Initialised once, not when a CPU comes back: another CPU may still have to run its tasklet. */
	for_each_possible_cpu(cpu)
		tasklet_setup(per_cpu_ptr(&tasklet, cpu), on_softirq);
	err = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "nest");
	if (err)
		return err;
	online = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "nest", cpu_comes, cpu_goes);
	if (online < 0) {
		unregister_nmi_handler(NMI_LOCAL, "nest");
		return online;
	}
	for (i = 0; i < probes_n; i++) {
		kprobes[i].addr = (kprobe_opcode_t *)probes[i];
		kprobes[i].pre_handler = on_hit;
		registered[i] = &kprobes[i];
	}
	err = probes_n ? register_kprobes(registered, probes_n) : 0;
	if (err) {
		cpuhp_remove_state(online);
		unregister_nmi_handler(NMI_LOCAL, "nest");
	}
	return err;
}

static void __exit nest_exit(void)
{
	struct counts sum = {};
	unsigned int cpu;

	if (probes_n)
		unregister_kprobes(registered, probes_n);
	cpuhp_remove_state(online);
	for_each_possible_cpu(cpu)
		tasklet_kill(per_cpu_ptr(&tasklet, cpu));
	unregister_nmi_handler(NMI_LOCAL, "nest");
	for_each_possible_cpu(cpu) {
		const struct counts *c = per_cpu_ptr(&counts, cpu);

		sum.ticks += c->ticks;
		sum.hits += c->hits;
		sum.raised += c->raised;
		sum.nmis += c->nmis;
	}
	pr_notice("ticks %lu hits %lu raised %lu nmis %lu\n", sum.ticks, sum.hits, sum.raised, sum.nmis);
}

module_init(nest_init);
module_exit(nest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Events within events, for FKT's tests");
