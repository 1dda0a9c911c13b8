// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile plans of calls to be recorded (struct fkt_calls): each is refused with its errno, or starts, and afterwards a
 * sound plan starts and records its calls. Needs root and the module fkt_calls. Argument: after every how many of the
 * refusals the sound plan is tried (1).
 */
#define _GNU_SOURCE
#include <linux/capability.h>

#include <fkt/call_hit.h>

#include "functions.h"
#include "rules.h"

#define SOUND 4
#define MORE (FKT_CALLED_MORE_MOST + 1)
#define CALLS 50

/* Symbols of the running kernel, in the order of `names`. */
enum symbol { GETPPID, GETPID, UMASK, SYNC, PANIC, SWITCH, DATA, TRAMPOLINE, RETURNED, OWN, SYMBOLS };
static const char *const names[SYMBOLS] = {
	"__do_sys_getppid", "__do_sys_getpid", "__x64_sys_umask", "ksys_sync", "panic", "__switch_to", "init_task",
	"fkt_calls_enter", "fkt_calls_returned_kept", "fkt_drain_wait",
};
static __u64 at[SYMBOLS];
static int refusals_each = 1, refusals;

/* What every test starts from, and breaks. */
static struct plan {
	struct fkt_called called[SOUND + MORE];
	struct fkt_program programs[2]; /* a pair without instructions: every call is recorded */
	struct fkt_calls calls;
	struct fkt_instrument instrument;
	struct fkt_instruments instruments;
	struct fkt_start start;
} plan;

static void sort_called(void)
{
	qsort(plan.called, plan.calls.count, sizeof(plan.called[0]), ascending);
}

static void make_sound(void)
{
	int i;

	memset(&plan, 0, sizeof(plan));
	for (i = 0; i < SOUND; i++)
		plan.called[i] = (struct fkt_called){ .function = at[i], .number = i };
	plan.calls = (struct fkt_calls){
		.functions = (unsigned long)plan.called, .count = SOUND, .programs = (unsigned long)plan.programs,
		.program_bytes = sizeof(plan.programs), .program_count = 1,
	};
	plan.instrument = (struct fkt_instrument){ .action = FKT_ACTION_RECORD, .layer = FKT_L_INSTRUMENTS };
	plan.instruments = (struct fkt_instruments){
		.instruments = (unsigned long)&plan.instrument, .count = 1, .calls = (unsigned long)&plan.calls,
	};
	sort_called();
	plan.start = (struct fkt_start){
		.abi = FKT_ABI_VERSION, .size = sizeof(plan.start), .out_fd = -1,
		.mask = 1ULL << FKT_L_INSTRUMENTS, .recording = 0x63616c6c, .instruments = (unsigned long)&plan.instruments,
	};
}

/* Starts the plan, makes calls of getppid, and stops. Returns 0 or FKT_START's errno; recorded: calls. */
static int run(int device, __u64 *recorded)
{
	struct fkt_hit_counts counts = { .cpu = FKT_ALL_CPUS };

	*recorded = 0;
	if (ioctl(device, FKT_START, &plan.start))
		return errno;
	call(CALLS);
	if (ioctl(device, FKT_STOP))
		return -errno;
	ioctl(device, FKT_HIT_COUNTS, &counts);
	*recorded = counts.kept;
	return 0;
}

static void expect_sound(int device, const char *after)
{
	char why[80];
	__u64 recorded;
	int err;

	make_sound();
	err = run(device, &recorded);
	snprintf(why, sizeof(why), "%s, %llu calls, after %s", err ? strerrorname_np(err) : "started",
		 (unsigned long long)recorded, after);
	expect("a sound plan", !err && recorded >= CALLS, why);
}

/* The plan as it is now must be refused with `error`; 0: must start. */
static void expect_start(int device, const char *name, int error)
{
	__u64 recorded;
	const int err = run(device, &recorded);

	expect(name, err == error, err ? strerrorname_np(err) : "started");
	if (err && ++refusals % refusals_each == 0)
		expect_sound(device, name);
}

#define TRY(name, error, ...)                     \
	do {                                      \
		make_sound();                     \
		__VA_ARGS__;                      \
		expect_start(device, name, error); \
	} while (0)

/* The last of the sound functions is replaced by one at this address. */
static void replace(__u64 address)
{
	plan.called[SOUND - 1].function = address;
	sort_called();
}

static void only(__u64 address)
{
	plan.called[0].function = address;
	plan.calls.count = 1;
}

static void try_functions(int device)
{
	TRY("no functions", EINVAL, plan.calls.count = 0);
	TRY("too many functions", EINVAL, plan.calls.count = FKT_CALLS_MOST + 1);
	TRY("2^32 - 1 functions", EINVAL, plan.calls.count = ~0U);
	TRY("functions that are not mapped", EFAULT, plan.calls.functions = 4096);
	TRY("more functions than are mapped", EFAULT, plan.calls.count = FKT_CALLS_MOST);
	TRY("functions in the kernel's memory", EFAULT, plan.calls.functions = at[DATA]);
	TRY("a plan that is not mapped", EFAULT, plan.instruments.calls = 4096);
	TRY("functions unsorted", EINVAL, plan.called[0].function = plan.called[2].function);
	TRY("a function twice", EINVAL, plan.called[0].function = plan.called[1].function);
	TRY("address 0", EINVAL, replace(0));
	TRY("address ~0", EINVAL, replace(~0ULL));
	TRY("an address of user space", EINVAL, replace((unsigned long)&plan));
	TRY("a non-canonical address", EINVAL, replace(0x8000000000000000));
	TRY("the first page of the kernel's half", EINVAL, replace(0xffff800000000000));
	TRY("data", EINVAL, replace(at[DATA]));
	TRY("the last byte but one", EINVAL, replace(~1ULL));
	/* Where there is no module, there may have been one when the plan was made. */
	TRY("no module", 0, replace(0xffffffffff000000 - 4096));
	TRY("no module alone", ENOENT, only(0xffffffffff000000 - 4096));
	TRY("the trampoline", EINVAL, replace(at[TRAMPOLINE]));
	TRY("what the trampoline calls", EINVAL, replace(at[RETURNED]));
	TRY("a function of fkt.ko", EINVAL, replace(at[OWN]));
	TRY("a function that does not return", 0, replace(at[PANIC]));
	TRY("two that do not return", ENOENT, only(at[SWITCH]));
	TRY("a number that is too large", EINVAL, plan.called[0].number = FKT_ARG_MASK + 1);
	TRY("no such program", EINVAL, plan.called[0].program = 1);
	TRY("no such instrument", EINVAL, plan.called[0].instrument = 1);
	TRY("a number in a function's padding", EINVAL, plan.called[0].pad = 1);
	TRY("an unknown way", EINVAL, plan.called[0].how = 8);
	TRY("another clock", EOPNOTSUPP, plan.start.clock = FKT_CLOCK_MONO);
}

/* Of the addresses in a function's first bytes, its nop's alone is the function, too; with its begin, that is twice. */
static void try_within(int device)
{
	const __u64 function = at[SYNC];
	__u64 recorded;
	int offset, good = 0;

	for (offset = 1; offset < 9; offset++) {
		make_sound();
		only(function + offset);
		good += !run(device, &recorded);
	}
	expect("addresses within a function", good <= 1, "more than one is taken for the function");
	for (offset = 4; good && offset < 6; offset++) {
		make_sound();
		only(function);
		plan.called[1] = plan.called[0];
		plan.called[1].function += offset;
		plan.calls.count = 2;
		expect("a function and its nop", run(device, &recorded) == EINVAL, "it started");
	}
	expect_sound(device, "addresses within a function");
}

/* A first program of one instruction, and an empty second one. */
static void give_program(struct fkt_insn insn)
{
	static struct {
		struct fkt_program head;
		struct fkt_insn insn;
		struct fkt_program second;
	} block;

	memset(&block, 0, sizeof(block));
	block.head.insns = 1;
	block.head.words = insn.op == FKT_OP_EMIT;
	block.insn = insn;
	plan.calls.programs = (unsigned long)&block;
	plan.calls.program_bytes = sizeof(block);
}

static void as_entries(void);

/* An empty first program, and a second one that emits these words; of threads with lower numbers. */
static void give_second(unsigned int word, unsigned int words, __u32 threads)
{
	static struct {
		struct fkt_program first;
		struct fkt_program head;
		struct fkt_insn insn;
	} block;

	memset(&block, 0, sizeof(block));
	block.head.insns = 1;
	block.head.words = words;
	block.insn = (struct fkt_insn){ .op = FKT_OP_EMIT_WORDS, .index = word, .size = 8 * words };
	plan.calls.programs = (unsigned long)&block;
	plan.calls.program_bytes = sizeof(block);
	plan.calls.threads = threads;
}

/* What is known of the task. */
static void try_tasks(int device)
{
	const __u32 some = 1 << 16;

	TRY("the depth", 0, give_second(FKT_CALL_DEPTH, 1, some));
	TRY("the time on the CPU", 0, give_second(FKT_CALL_CPUTIME, 1, some));
	TRY("all words", 0, give_second(0, FKT_CALL_FIRST_KEPT, some));
	TRY("words behind them", EINVAL, give_second(FKT_CALL_DEPTH, 2, some));
	TRY("the words before them, of no threads", 0, give_second(0, FKT_CALL_CPUTIME, 0));
	TRY("the depth, of no threads", EINVAL, give_second(FKT_CALL_DEPTH, 1, 0));
	TRY("the depth among others, of no threads", EINVAL, give_second(0, FKT_CALL_FIRST_KEPT, 0));
	TRY("the depth, of one thread", 0, give_second(FKT_CALL_DEPTH, 1, 1));
	TRY("the depth, of as many threads as there may be", 0, give_second(FKT_CALL_DEPTH, 1, FKT_TASK_FLAGS_MOST));
	TRY("the depth, of one more", EINVAL, give_second(FKT_CALL_DEPTH, 1, FKT_TASK_FLAGS_MOST + 1));
	TRY("threads that nothing asks for", 0, plan.calls.threads = some);
	TRY("the depth by a return probe", EINVAL, give_second(FKT_CALL_DEPTH, 1, some);
	    plan.called[0].how = FKT_CALLED_BY_PROBE);
	TRY("threads of entries", EINVAL, plan.calls.threads = 1; as_entries());
}

/* Keeps calls of threads with lower numbers. */
static struct fkt_keep *give_keep(__u32 threads, __u32 where)
{
	plan.calls.threads = threads;
	plan.calls.keep.where = where;
	return &plan.calls.keep;
}

/* Which calls are held until it is known whether a call that they are in is recorded. */
static void try_keep(int device)
{
	const __u32 some = 1 << 16, both = FKT_KEEP_IN_TASK | FKT_KEEP_IN_INTERRUPT;

	TRY("calls that are held", 0, give_keep(some, both));
	TRY("held in interrupts alone", 0, give_keep(some, FKT_KEEP_IN_INTERRUPT));
	TRY("held, of one thread", 0, give_keep(1, both));
	TRY("held, of no threads", EINVAL, give_keep(0, both));
	TRY("held in an unknown context", EINVAL, give_keep(some, 4));
	TRY("held in 2^32 - 1 contexts", EINVAL, give_keep(some, ~0U));
	TRY("limits of what is not held", EINVAL, give_keep(some, 0)->levels = 1);
	TRY("a share of all", 0, give_keep(some, both)->percent = 100);
	TRY("a share of more", EINVAL, give_keep(some, both)->percent = 101);
	TRY("a share of 2^32 - 1", EINVAL, give_keep(some, both)->percent = ~0U);
	TRY("the largest numbers", 0, give_keep(some, both)->shortest = ~0ULL; plan.calls.keep.levels = ~0U;
	    plan.calls.keep.deepest = ~0U);
	TRY("the smallest ones", 0, give_keep(some, both)->shortest = 1; plan.calls.keep.levels = 1;
	    plan.calls.keep.deepest = 1; plan.calls.keep.percent = 1);
	TRY("held, with a first program", EINVAL, give_keep(some, both);
	    give_program((struct fkt_insn){ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = 1 }));
	TRY("held, with values at the return", EINVAL, give_second(FKT_CALL_DEPTH, 1, some); give_keep(some, both));
	TRY("held, by a return probe", EINVAL, give_keep(some, both); plan.called[0].how = FKT_CALLED_BY_PROBE);
	TRY("held, of exits", EINVAL, give_keep(some, both); plan.called[0].how = FKT_CALLED_BY_PROBE | FKT_CALLED_EXIT);
	TRY("held, of entries", EINVAL, give_keep(1, both); as_entries());
}

static void try_programs(int device)
{
	const struct fkt_insn good = { .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = 1 };
	struct fkt_insn bad = good;

	TRY("no programs", EINVAL, plan.calls.program_count = 0);
	TRY("more programs than bytes", EINVAL, plan.calls.program_count = 2);
	TRY("2^32 - 1 programs", EINVAL, plan.calls.program_count = ~0U);
	TRY("no bytes of programs", EINVAL, plan.calls.program_bytes = 0);
	TRY("half a program", EINVAL, plan.calls.program_bytes -= 1);
	TRY("too many bytes of programs", EINVAL, plan.calls.program_bytes = FKT_CALLS_PROGRAM_BYTES + 1);
	TRY("programs that are not mapped", EFAULT, plan.calls.programs = 4096);
	TRY("a program that is longer than the block", EINVAL, plan.programs[0].insns = 1);
	TRY("too many texts", EINVAL, plan.programs[1].texts = 255);
	TRY("a program that emits", 0, give_program(good));
#define TRY_BAD(name, change) \
	TRY(name, EINVAL, bad = good; change; give_program(bad))
	TRY_BAD("an unknown operation", bad.op = FKT_OPS);
	TRY_BAD("an unknown operand", bad.how = FKT_FROMS);
	TRY_BAD("a seventh argument", bad.index = FKT_CALL_ARGUMENTS);
	TRY_BAD("an empty stack", bad.how = FKT_FROM_POP);
	TRY_BAD("a jump to itself", bad.op = FKT_OP_JUMP);
	TRY_BAD("a jump behind the end", bad.op = FKT_OP_JUMP; bad.target = 2);
}

/* Changes the instrument to a sound histogram. */
static struct fkt_instrument *give_histogram(void)
{
	plan.instrument.action = FKT_ACTION_HISTOGRAM;
	plan.instrument.rows = 16;
	plan.instrument.key_words = 1;
	return &plan.instrument;
}

/* As many instruments with the largest histograms. */
static void give_large(unsigned int count)
{
	static struct fkt_instrument large[64];
	unsigned int i;

	give_histogram()->rows = FKT_HISTOGRAM_ROWS;
	for (i = 0; i < count; i++)
		large[i] = plan.instrument;
	plan.instruments.instruments = (unsigned long)large;
	plan.instruments.count = count;
}

static void try_instruments(int device)
{
	TRY("a table that is not mapped", EFAULT, plan.start.instruments = 4096);
	TRY("instruments that are not mapped", EFAULT, plan.instruments.instruments = 4096);
	TRY("no instruments", EINVAL, plan.instruments.count = 0);
	TRY("too many instruments", EINVAL, plan.instruments.count = FKT_INSTRUMENTS_MOST + 1);
	TRY("2^32 - 1 instruments", EINVAL, plan.instruments.count = ~0U);
	TRY("flags of too many threads", EINVAL, plan.instruments.threads = FKT_TASK_FLAGS_MOST + 1);
	TRY("flags of a thread", 0, plan.instruments.threads = 1);
	TRY("no such layer", EINVAL, plan.instrument.layer = 63);
	TRY("a layer beyond the mask", EINVAL, plan.instrument.layer = 64 + FKT_L_INSTRUMENTS);
	TRY("no such action", EINVAL, plan.instrument.action = FKT_ACTIONS);
	TRY("action 2^32 - 1", EINVAL, plan.instrument.action = ~0U);
	TRY("calls that are counted", 0, plan.instrument.action = FKT_ACTION_COUNT);
	TRY("the last flag", 0, plan.instrument.action = FKT_ACTION_SET; plan.instrument.flag = FKT_PROGRAM_FLAGS - 1);
	TRY("a flag behind it", EINVAL, plan.instrument.action = FKT_ACTION_SET; plan.instrument.flag = FKT_PROGRAM_FLAGS);
	TRY("the last flag of threads", 0, plan.instrument.action = FKT_ACTION_SET;
	    plan.instrument.flag = FKT_FLAG_OF_TASK | (FKT_TASK_FLAGS - 1));
	TRY("a flag of threads behind it", EINVAL, plan.instrument.action = FKT_ACTION_SET;
	    plan.instrument.flag = FKT_FLAG_OF_TASK | FKT_TASK_FLAGS);
	TRY("a handler that nobody has registered", EUNATCH, plan.instrument.action = FKT_ACTION_HANDLER;
	    strcpy(plan.instrument.handler, "no_such_handler"));
	TRY("a handler without a name", EUNATCH, plan.instrument.action = FKT_ACTION_HANDLER);
	TRY("a name without an end", EINVAL, plan.instrument.action = FKT_ACTION_HANDLER;
	    memset(plan.instrument.handler, 'x', sizeof(plan.instrument.handler)));
	TRY("bytes behind a name", EINVAL, plan.instrument.action = FKT_ACTION_HANDLER;
	    strcpy(plan.instrument.handler, "x"); plan.instrument.handler[5] = 'y');
	TRY("a handler of another action", EINVAL, strcpy(plan.instrument.handler, "x"));
	TRY("a stack", 0, plan.instrument.action = FKT_ACTION_STACK);
	TRY("a begin", 0, plan.instrument.action = FKT_ACTION_START);
	TRY("what primes, without a begin", EINVAL, plan.instrument.action = FKT_ACTION_PRIME);
	TRY("a snapshot without a flight recorder", 0, plan.instrument.action = FKT_ACTION_SNAPSHOT);
	TRY("flag 2^32 - 1", EINVAL, plan.instrument.action = FKT_ACTION_CLEAR; plan.instrument.flag = ~0U);
	TRY("rows without a histogram", EINVAL, plan.instrument.rows = 16);
	TRY("a width without a histogram", EINVAL, plan.instrument.width = 1);
	TRY("a histogram", 0, give_histogram());
	TRY("a histogram of equal buckets", 0, give_histogram()->width = ~0ULL);
	TRY("a histogram of scaled values", 0, give_histogram()->scale = ~0U; plan.instrument.shift = 63);
	TRY("no rows", EINVAL, give_histogram()->rows = 0);
	TRY("rows that are no power of two", EINVAL, give_histogram()->rows = 17);
	TRY("too many rows", EINVAL, give_histogram()->rows = 2 * FKT_HISTOGRAM_ROWS);
	TRY("2^31 rows", EINVAL, give_histogram()->rows = 1U << 31);
	TRY("a shift of 64", EINVAL, give_histogram()->shift = 64);
	TRY("keys that are too long", EINVAL, give_histogram()->key_words = FKT_HISTOGRAM_KEY_WORDS + 1);
	TRY("a sign that is none", EINVAL, give_histogram()->is_signed = 2);
	TRY("too many bytes of histograms", EINVAL, give_large(64));
}

/* Returns what FKT_RESULTS says, as 0 or errno, on another open file: of this process, or of one without capabilities. */
static int results_elsewhere(bool is_privileged)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct fkt_results results = { 0 };
	int status;
	pid_t child = fork();

	if (!child) {
		if (!is_privileged && syscall(SYS_capset, &header, none))
			_exit(255);
		_exit(ioctl(open_device(), FKT_RESULTS, &results) ? errno : 0);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* FKT_RESULTS, while nothing is recorded and afterwards. */
static void try_results(int device)
{
	static struct fkt_histogram_row rows[FKT_RESULTS_ROWS];
	struct fkt_results results = { .rows = (unsigned long)rows, .count = ~0U };
	__u64 recorded;

	make_sound();
	give_histogram();
	expect("a histogram that is read", !run(device, &recorded) && recorded >= CALLS, "it did not start");
	expect("its rows", !ioctl(device, FKT_RESULTS, &results) && results.count == 1 && rows[0].counts[1] >= CALLS,
	       "not as many as the calls");
	expect("no more rows", !ioctl(device, FKT_RESULTS, &results) && !results.count, "there are");
	expect("another open file's results", !results_elsewhere(true), "refused");
	expect("another open file's, without capabilities", results_elsewhere(false) == EPERM, "not EPERM");
	results.count = 0;
	results.from = 0;
	expect("room for none", !ioctl(device, FKT_RESULTS, &results) && !results.count, "rows were given");
	results.count = 1;
	results.from = ~0U;
	expect("rows behind the last", !ioctl(device, FKT_RESULTS, &results) && !results.count, "rows were given");
	results.count = 1;
	results.from = 0;
	results.rows = 4096;
	expect("rows that are not mapped", ioctl(device, FKT_RESULTS, &results) && errno == EFAULT, "not EFAULT");
	results.instrument = 1;
	expect("results of no instrument", ioctl(device, FKT_RESULTS, &results) && errno == ENXIO, "not ENXIO");
	results.instrument = ~0U;
	expect("results of instrument 2^32 - 1", ioctl(device, FKT_RESULTS, &results) && errno == ENXIO, "not ENXIO");
	expect_sound(device, "results");
	results.instrument = 0;
	expect("results of what has none", ioctl(device, FKT_RESULTS, &results) && errno == ENXIO, "not ENXIO");
}

/* Calls of a function of another layer are recorded while that layer is. */
static void try_layers(int device)
{
	__u64 recorded;

	make_sound();
	plan.instrument.layer = FKT_L_PROCESS;
	expect("functions of a layer that is off", !run(device, &recorded) && !recorded, "calls were recorded");
	plan.start.mask = 1ULL << FKT_L_PROCESS;
	expect("functions of a layer that is on", !run(device, &recorded) && recorded >= CALLS, "calls are missing");
	expect_sound(device, "another layer");
}

/* The same table, as one of entries or of instructions. */
static void as_entries(void)
{
	plan.instruments.entries = plan.instruments.calls;
	plan.instruments.calls = 0;
}

static void as_instructions(void)
{
	plan.instruments.instructions = plan.instruments.calls;
	plan.instruments.calls = 0;
}

/* Only the last of the sound functions, at this address, as an instruction. */
static void only_instruction(__u64 address)
{
	only(address);
	as_instructions();
}

/* Further instruments, as many, on the last of the sound functions. */
static void give_more(unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		plan.called[SOUND + i] = plan.called[SOUND - 1];
		plan.called[SOUND + i].how |= FKT_CALLED_MORE;
	}
	plan.calls.count = SOUND + count;
}

static void try_more(int device)
{
	const struct fkt_insn good = { .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = 1 };

	TRY("a further instrument", 0, give_more(1));
	TRY("as many as there may be", 0, give_more(FKT_CALLED_MORE_MOST));
	TRY("one more", EINVAL, give_more(FKT_CALLED_MORE_MOST + 1));
	TRY("a further instrument before the first", EINVAL, plan.called[0].how = FKT_CALLED_MORE);
	TRY("a further instrument of another function", EINVAL, plan.called[1].how = FKT_CALLED_MORE);
	TRY("only further instruments", EINVAL, plan.called[0].how = FKT_CALLED_MORE; plan.calls.count = 1);
	TRY("further instruments that ask first", EINVAL, give_program(good); give_more(1));
	TRY("a further exit", 0, give_more(1); plan.called[SOUND].how |= FKT_CALLED_EXIT);
	TRY("further instruments by a return probe", 0, plan.called[SOUND - 1].how = FKT_CALLED_BY_PROBE; give_more(2));
	TRY("a further entry", 0, give_more(1); as_entries());
	TRY("further entries that emit", 0, give_program(good); give_more(3); as_entries());
	TRY("a further instruction", EINVAL, give_more(1); as_instructions());
}

static void try_entries(int device)
{
	const struct fkt_insn good = { .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = 1 };
	struct fkt_insn bad = good;

	TRY("entries", 0, as_entries());
	TRY("entries, with another clock", 0, as_entries(); plan.start.clock = FKT_CLOCK_MONO);
	TRY("entries of a function that does not return", 0, replace(at[PANIC]); as_entries());
	TRY("no entries", EINVAL, plan.calls.count = 0; as_entries());
	TRY("entries of data", EINVAL, replace(at[DATA]); as_entries());
	TRY("entries of user space", EINVAL, replace((unsigned long)&plan); as_entries());
	TRY("entries of fkt.ko", EINVAL, replace(at[OWN]); as_entries());
	TRY("entries of no module alone", ENOENT, only(0xffffffffff000000 - 4096); as_entries());
	TRY("entries with a shortest duration", EINVAL, plan.called[0].shortest = 1; as_entries());
	TRY("entries by another way", EINVAL, plan.called[0].how = FKT_CALLED_BY_PROBE; as_entries());
	TRY("entries that emit", 0, give_program(good); as_entries());
	TRY("entries with a seventh argument", EINVAL, bad.index = FKT_CALL_ARGUMENTS; give_program(bad); as_entries());
	TRY("entries that are not mapped", EFAULT, plan.instruments.calls = 4096; as_entries());
	TRY("entries and calls", 0, plan.instruments.entries = plan.instruments.calls);
}

static void try_instructions(int device)
{
	struct fkt_insn insn = { .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = FKT_REGISTER_FLAGS };

	TRY("instructions", 0, as_instructions());
	TRY("the middle of an instruction", EILSEQ, only_instruction(at[GETPPID] + 1));
	TRY("an instruction of user space", EINVAL, only_instruction((unsigned long)&plan));
	TRY("an instruction that is data", EINVAL, only_instruction(at[DATA]));
	TRY("an instruction of fkt.ko", EINVAL, only_instruction(at[OWN]));
	TRY("a non-canonical instruction", EINVAL, only_instruction(0x8000000000000000));
	TRY("an instruction at ~1", EINVAL, only_instruction(~1ULL));
	TRY("too many instructions", EINVAL, plan.calls.count = FKT_INSTRUCTIONS_MOST + 1; as_instructions());
	TRY("an instruction's number", EINVAL, plan.called[0].number = FKT_INSTRUCTIONS_MOST; as_instructions());
	TRY("the last register", 0, give_program(insn); as_instructions());
	TRY("no such register", EINVAL, insn.index = FKT_REGISTERS; give_program(insn); as_instructions());
	TRY("instructions and calls", 0, plan.instruments.instructions = plan.instruments.calls);
}

static void try_probes(int device)
{
	const struct fkt_insn insn = { .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = 1 };
	int i;

	TRY("a return probe", 0, plan.called[0].how = FKT_CALLED_BY_PROBE);
	TRY("return probes alone", 0, for (i = 0; i < SOUND; i++) plan.called[i].how = FKT_CALLED_BY_PROBE);
	TRY("return probes with programs", 0, give_program(insn); for (i = 0; i < SOUND; i++) plan.called[i].how = FKT_CALLED_BY_PROBE);
	TRY("exits", 0, for (i = 0; i < SOUND; i++) plan.called[i].how = FKT_CALLED_EXIT);
	TRY("a return probe on data", EINVAL, only(at[DATA]); plan.called[0].how = FKT_CALLED_BY_PROBE);
	TRY("a return probe in user space", EINVAL, only((unsigned long)&plan); plan.called[0].how = FKT_CALLED_BY_PROBE);
}

/* Every value is good; too short calls are not recorded. */
static void try_shortest(int device)
{
	static const __u64 values[] = { 1, 1ULL << 31, 1ULL << 32, 1ULL << 63, ~1ULL, ~0ULL };
	__u64 recorded;
	size_t i, j;
	int err;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		make_sound();
		for (j = 0; j < SOUND; j++)
			plan.called[j].shortest = values[i];
		err = run(device, &recorded);
		expect("a shortest duration", !err && (values[i] < 2 || recorded < CALLS), "not as asked for");
	}
	expect_sound(device, "shortest durations");
}

int main(int argc, char **argv)
{
	const int device = open_device();
	int i;

	if (argc > 1 && atoi(argv[1]) > 0)
		refusals_each = atoi(argv[1]);
	find_symbols(names, at, SYMBOLS);
	for (i = 0; i < SOUND; i++)
		expect(names[i], at[i], "not in /proc/kallsyms");
	expect_sound(device, "nothing");
	try_functions(device);
	try_within(device);
	try_programs(device);
	try_instruments(device);
	try_results(device);
	try_layers(device);
	try_shortest(device);
	try_more(device);
	try_entries(device);
	try_instructions(device);
	try_probes(device);
	try_tasks(device);
	try_keep(device);
	return 0;
}
