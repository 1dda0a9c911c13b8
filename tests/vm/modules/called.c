// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces calls by fkt_calls.ko alone, for tests/vm/cases/calls: of its own functions, whose numbers of calls, results
 * and shortest durations are known, and of kernel functions that are named. From a write to the parameter `begin` on
 * the
 * calls are counted; /sys/module/called/parameters/counts shows a line for each function: "NAME CALLS SHORTEST_US
 * LONGEST_US RESULT".
 *
 * With a frame that keeps words, all of them are filled at the entry and compared at the return; with one that keeps
 * the arguments, these are compared with the result. The line "kept" says how many calls' words were wrong, and how
 * many calls were refused at the entry (each fourth of leaf's, if the engine asks). The line "task", of frames with the
 * words of the task (frames.h): calls without them, how deep recurse was, the most microseconds of a call of nap on the
 * CPU, the least of one of busy. The line "no_begin": calls during which the clock
 * stepped back or the machine slept; they are in no other line.
 *
 *   insmod called.ko rounds=100 functions=hrtimer_nanosleep,do_nanosleep shortest_us=0 frame=1
 *   echo 1 >/sys/module/called/parameters/begin
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "../../../module/calls/calls.h"

#define MOST 64

static unsigned int rounds = 100;
module_param(rounds, uint, 0444);
static unsigned int frame; /* kind of frame (module/calls/frames.h) of all functions */
module_param(frame, uint, 0444);
static unsigned int shortest_us;
static char *functions[MOST];
static unsigned int functions_n;
module_param_array(functions, charp, &functions_n, 0444);
/* Whether its own functions are traced, too. */
static bool own = true;
module_param(own, bool, 0444);

static struct called {
	const char *name;
	unsigned long function;
	atomic64_t calls;
	u64 shortest, longest, result;
} called[MOST];
static unsigned int called_n;
static atomic64_t unknown;
static u64 since; /* TSC before the first traced call */
static atomic64_t refused, broken; /* calls that were not traced; calls whose kept words came back changed */
static atomic64_t no_begin; /* calls whose begin is unknown */
/* Of frames with the words of the task. Only its own thread calls the functions. */
static atomic64_t without_task; /* calls of which they are not known */
static u32 deepest; /* call of recurse */
static u64 nap_on_cpu; /* ticks: the most of any nap */
static u64 busy_on_cpu = U64_MAX; /* ticks: the least of any call of busy */

/* Racy for functions that several CPUs call at once, but for the number of calls. */
static void notrace count_call(const struct fkt_call *call, u64 ticks, unsigned long body)
{
	const u64 begin = fkt_call_began(call, ticks);
	unsigned int i;

	if (begin == FKT_CALLS_NO_BEGIN) {
		atomic64_inc(&no_begin);
		return;
	}
	for (i = 0; i < called_n; i++) {
		struct called *c = &called[i];

		if (body - c->function > 16)
			continue;
		atomic64_inc(&c->calls);
		c->shortest = min(c->shortest, ticks);
		c->longest = max(c->longest, ticks);
		c->result = call->result;
		return;
	}
	/* What began before may be of another module's functions, which had the engine then. */
	if (begin >= since)
		atomic64_inc(&unknown);
}

static const unsigned int kept_words[FKT_CALLS_FRAMES] = {
	[FKT_CALLS_FEW] = FKT_CALLS_FEW_WORDS,
	[FKT_CALLS_SOME] = FKT_CALLS_SOME_WORDS,
	[FKT_CALLS_MANY] = FKT_CALLS_MANY_WORDS,
	[FKT_CALLS_TASK_FEW] = FKT_CALLS_FEW_WORDS,
	[FKT_CALLS_TASK_SOME] = FKT_CALLS_SOME_WORDS,
	[FKT_CALLS_TASK_MANY] = FKT_CALLS_MANY_WORDS,
};

static u64 notrace kept_word(u64 first, unsigned int i)
{
	return i ? first * 0x9e3779b97f4a7c15ULL + i : first;
}

struct two {
	u64 low, high;
};

static u64 leaf(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);
static u64 busy(unsigned int us);
static long nap(unsigned int ms);
static u64 recurse(unsigned int depth);
static struct two pair(u64 a, u64 b);
static u64 tail(u64 a);

/* The first word is random, the others follow from it. */
static bool notrace keep_arguments(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	const u64 first = body ^ rdtsc();
	unsigned int i;

	if (body - (unsigned long)leaf <= 16 && arguments[1] == 1 && arguments[0] % 4 == 3) {
		atomic64_inc(&refused);
		return false;
	}
	for (i = 0; i < kept_words[frame]; i++)
		kept[i] = kept_word(first, i);
	return true;
}

static void notrace count(u64 unused, u64 ticks, u64 now)
{
	const struct fkt_plain_call *plain = FKT_CALL_ON_STACK();

	if (now > rdtsc())
		atomic64_inc(&broken);
	count_call(&plain->call, ticks, plain->body);
}

/* Compares the words of the task with what is known of `recurse` and `nap`. */
static void notrace check_task(u64 ticks, unsigned long body, const struct fkt_call_task *task)
{
	const u64 on_cpu = task ? fkt_call_on_cpu(task, ticks) : 0;

	if (!task) {
		atomic64_inc(&without_task);
		return;
	}
	if (body - (unsigned long)recurse <= 16)
		deepest = max(deepest, fkt_call_depth(task));
	if (body - (unsigned long)nap <= 16)
		nap_on_cpu = max(nap_on_cpu, on_cpu);
	if (body - (unsigned long)busy <= 16)
		busy_on_cpu = min(busy_on_cpu, on_cpu);
}

static void notrace count_kept(const struct fkt_call *call, u64 ticks, const unsigned long *body, const u64 *kept,
			       const struct fkt_call_task *task)
{
	unsigned int i;

	if (frame >= FKT_CALLS_TASK && !(ticks >> FKT_CALLS_TICK_BITS))
		check_task(ticks, *body, task);
	for (i = 0; i < kept_words[frame]; i++)
		if (kept[i] != kept_word(kept[0], i))
			atomic64_inc(&broken);
	count_call(call, ticks, *body);
}

/* Whether these are the arguments of the call that has this result. */
static bool notrace belong(const u64 *arguments, const struct fkt_call *call, unsigned long body)
{
	const u64 *a = arguments;

	if (body - (unsigned long)leaf <= 16)
		return call->result == a[0] + 2 * a[1] + 3 * a[2] + 4 * a[3] + 5 * a[4] + 6 * a[5];
	if (body - (unsigned long)pair <= 16)
		return call->result == a[0] && call->result_high == a[1];
	if (body - (unsigned long)tail <= 16)
		return call->result == 21 * a[0];
	if (body - (unsigned long)recurse <= 16 || body - (unsigned long)busy <= 16)
		return call->result == (u32)a[0];
	if (body - (unsigned long)nap <= 16)
		return call->result == -(u64)(u32)a[0];
	return true;
}

static void notrace count_arguments(u64 unused, u64 ticks, u64 now)
{
	const struct fkt_arguments_call *call = FKT_CALL_ON_STACK();

	if (now > rdtsc() || !belong(call->arguments, &call->call, call->body))
		atomic64_inc(&broken);
	count_call(&call->call, ticks, call->body);
}

/* ---- functions with known calls ---- */

static u64 sink;

static noinline u64 leaf(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

static noinline u64 busy(unsigned int us)
{
	udelay(us);
	return us;
}

static noinline long nap(unsigned int ms)
{
	msleep(ms);
	return -(long)ms;
}

static noinline u64 recurse(unsigned int depth)
{
	return depth ? recurse(depth - 1) + READ_ONCE(sink) + 1 : 0;
}

static noinline struct two pair(u64 a, u64 b)
{
	return (struct two){ .low = a ^ READ_ONCE(sink), .high = b };
}

/* Its last call becomes a jump. */
static noinline u64 tail(u64 a)
{
	WRITE_ONCE(sink, 0);
	return leaf(a, a, a, a, a, a);
}

/*
 * As if the clock stepped back during the call: the time of the entry, which lies above the return address
 * (module/arch/x86/calls/trampoline.S), becomes that of a later one.
 */
static noinline u64 back(u64 a)
{
	u64 *frame = __builtin_frame_address(0);

	WRITE_ONCE(frame[2], frame[2] + (1ULL << 40));
	return a;
}

static noinline void on_ipi(void *unused)
{
	WRITE_ONCE(sink, 0);
}

static noinline int on_nmi(unsigned int type, struct pt_regs *regs)
{
	return NMI_HANDLED;
}

static const struct {
	const char *name;
	unsigned long function;
} known[] = {
	{ "leaf", (unsigned long)leaf }, { "busy", (unsigned long)busy }, { "nap", (unsigned long)nap },
	{ "recurse", (unsigned long)recurse }, { "pair", (unsigned long)pair }, { "tail", (unsigned long)tail },
	{ "on_ipi", (unsigned long)on_ipi }, { "on_nmi", (unsigned long)on_nmi }, { "back", (unsigned long)back },
};

static int run(void)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < rounds; i++) {
		struct two two = pair(i, ~(u64)i);

		wrong += two.low != i || two.high != ~(u64)i;
		wrong += leaf(i, 1, 2, 3, 4, 5) != i + 2 + 6 + 12 + 20 + 30;
		wrong += tail(i) != 21 * (u64)i;
		wrong += recurse(10) != 10;
		smp_call_function_single(i % num_online_cpus(), on_ipi, NULL, 1);
		if (i % 10 == 0) {
			wrong += busy(100) != 100;
			wrong += nap(2) != -2;
			wrong += back(i) != i;
			apic->send_IPI_self(NMI_VECTOR);
		}
	}
	if (wrong)
		pr_err("%u wrong results\n", wrong);
	return wrong ? -EINVAL : 0;
}

/* ---- what is shown ---- */

static u64 to_us(u64 ticks)
{
	return div_u64(ticks * 1000, tsc_khz);
}

static int get_counts(char *buffer, const struct kernel_param *unused)
{
	struct fkt_calls_totals totals;
	unsigned int i;
	int n = 0;

	for (i = 0; i < called_n; i++) {
		struct called *c = &called[i];
		u64 calls = atomic64_read(&c->calls);

		n += scnprintf(buffer + n, PAGE_SIZE - n, "%s %llu %llu %llu %lld\n", c->name, calls,
			       calls ? to_us(c->shortest) : 0, to_us(c->longest), c->result);
	}
	n += scnprintf(buffer + n, PAGE_SIZE - n, "unknown %lld\n", (s64)atomic64_read(&unknown));
	n += scnprintf(buffer + n, PAGE_SIZE - n, "kept %lld %lld\n", (s64)atomic64_read(&broken),
		       (s64)atomic64_read(&refused));
	n += scnprintf(buffer + n, PAGE_SIZE - n, "task %lld %u %llu %llu\n", (s64)atomic64_read(&without_task),
		       deepest, to_us(nap_on_cpu), busy_on_cpu == U64_MAX ? 0 : to_us(busy_on_cpu));
	n += scnprintf(buffer + n, PAGE_SIZE - n, "no_begin %lld\n", (s64)atomic64_read(&no_begin));
	fkt_calls_totals(&totals);
	n += scnprintf(buffer + n, PAGE_SIZE - n, "too_short %llu\ntaken %llu\n", totals.too_short, totals.taken);
	return n;
}

static const struct kernel_param_ops counts_ops = { .get = get_counts };
module_param_cb(counts, &counts_ops, NULL, 0444);

static u64 to_ticks(unsigned int us)
{
	return div_u64((u64)us * tsc_khz, 1000);
}

/* True between fkt_calls_begin() and fkt_calls_end(). */
static bool is_traced;

/* Also changes it while calls are traced. */
static int set_shortest(const char *text, const struct kernel_param *param)
{
	int err = param_set_uint(text, param);

	if (!err && READ_ONCE(is_traced))
		fkt_calls_set_shortest(to_ticks(shortest_us));
	return err;
}

static const struct kernel_param_ops shortest_ops = { .set = set_shortest, .get = param_get_uint };
module_param_cb(shortest_us, &shortest_ops, &shortest_us, 0644);

/* Writing calls the known functions once more. */
static int set_run(const char *text, const struct kernel_param *unused)
{
	return run();
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);

/* ---- begin and end ---- */

static void add(const char *name, unsigned long function)
{
	called[called_n++] = (struct called){ .name = name, .function = function, .shortest = U64_MAX };
}

static int find(const char *name)
{
	struct kprobe kprobe = { .symbol_name = name };
	int err = register_kprobe(&kprobe);

	if (err) {
		pr_err("no function %s (%d)\n", name, err);
		return err;
	}
	/* A kprobe may lie behind an ENDBR: the function begins before it. */
	add(name, (unsigned long)kprobe.addr & ~15UL);
	unregister_kprobe(&kprobe);
	return 0;
}

static int begin(void)
{
	unsigned long plan_functions[MOST];
	struct fkt_calls_plan plan = {
		.record = count, .record_arguments = count_arguments, .ask = keep_arguments, .record_kept = count_kept,
	};
	unsigned int i;
	int err;

	for (i = 0; i < called_n; i++)
		plan_functions[i] = called[i].function;
	plan.frames[frame].functions = plan_functions;
	plan.frames[frame].count = called_n;
	plan.frames[frame].shortest = to_ticks(shortest_us);
	plan.threads = 1 << 16;
	since = rdtsc();
	err = fkt_calls_begin(&plan);
	if (err)
		return err;
	WRITE_ONCE(is_traced, true);
	err = run();
	if (!err)
		return 0;
	WRITE_ONCE(is_traced, false);
	fkt_calls_end();
	return err;
}

/* Writing begins to trace: the functions of a module that is still being loaded are not traced. */
static int set_begin(const char *text, const struct kernel_param *unused)
{
	return is_traced ? -EBUSY : begin();
}

static const struct kernel_param_ops begin_ops = { .set = set_begin };
module_param_cb(begin, &begin_ops, NULL, 0200);

/* Begins while the module is being loaded. */
static bool early;
module_param(early, bool, 0444);

static int __init called_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; own && i < ARRAY_SIZE(known); i++)
		add(known[i].name, known[i].function);
	for (i = 0; i < functions_n; i++) {
		err = find(functions[i]);
		if (err)
			return err;
	}
	if (early)
		return begin();
	return frame < FKT_CALLS_FRAMES ? register_nmi_handler(NMI_LOCAL, on_nmi, 0, "called") : -EINVAL;
}

static void __exit called_exit(void)
{
	if (is_traced)
		fkt_calls_end();
	unregister_nmi_handler(NMI_LOCAL, "called");
}

module_init(called_init);
module_exit(called_exit);

MODULE_DESCRIPTION("Calls functions that are traced");
MODULE_LICENSE("GPL v2");
