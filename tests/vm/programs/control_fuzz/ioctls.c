// SPDX-License-Identifier: GPL-2.0-only
/* All ioctls of include/fkt/ioctl.h, and numbers that are not in it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/magic.h>

#include <fkt/events.h>
#include <fkt/program.h>
#include <fkt/file.h>
#include <fkt/ioctl.h>
#include <fkt/trigger_hit.h>

#include "fuzz.h"

#define FUNCTIONS 4
#define PROGRAM_WORDS 20
#define INSTRUMENTS 2

/* ---- starting ---- */

/* Generates a trigger: a program without instructions, of one test, or of random words. */
static __u64 trigger(struct thread *t)
{
	static _Thread_local __u64 program[PROGRAM_WORDS];
	static _Thread_local struct fkt_trigger when;
	unsigned int i;

	memset(program, 0, sizeof(program));
	for (i = 0; chance(t, 30) && i < PROGRAM_WORDS; i++)
		program[i] = rnd(t);
	when = (struct fkt_trigger){ .bytes = chance(t, 70) ? sizeof(struct fkt_program) : small(t, sizeof(program) + 1) };
	if (chance(t, 50)) {
		struct fkt_insn test = { .index = small(t, FKT_TRIGGER_WORDS), .target = chance(t, 50) ? 1 : FKT_TARGET_DROP };

		test.value = number(t);
		test.span = number(t);
		program[0] = 1;
		memcpy(&program[1], &test, sizeof(test));
		when.bytes = FKT_PROGRAM_BYTES(1, 0);
	}
	when.tids = small(t, 5000000);
	for (i = 0; i < FKT_TRIGGER_IDS / 64; i++)
		when.watched[i] = chance(t, 50) ? ~0ULL : rnd(t);
	when.program = chance(t, 95) ? (unsigned long)program : number(t);
	return (unsigned long)place(t, &when, sizeof(when));
}

/* Functions without arguments on the stack; 0: addresses are hidden from this process. */
static const __u64 *functions(void)
{
	static const char *const names[] = { "vfs_read", "vfs_write", "vfs_open", "filp_close" };
	static _Thread_local __u64 addresses[FUNCTIONS];
	static _Thread_local bool known;
	FILE *symbols = known ? NULL : fopen("/proc/kallsyms", "r");
	char line[512], name[256], type;
	unsigned long long address;
	unsigned int i;

	known = true;
	while (symbols && fgets(line, sizeof(line), symbols)) {
		if (sscanf(line, "%llx %c %255s", &address, &type, name) != 3)
			continue;
		for (i = 0; i < FUNCTIONS; i++)
			if (!strcmp(name, names[i]))
				addresses[i] = address;
	}
	if (symbols)
		fclose(symbols);
	return addresses;
}

static int by_address(const void *one, const void *other)
{
	const struct fkt_called *a = one, *b = other;

	return a->function < b->function ? -1 : a->function > b->function;
}

/* Generates the layer of an instrument. */
static __u32 layer(struct thread *t)
{
	return chance(t, 80) ? FKT_L_INSTRUMENTS : chance(t, 90) ? FKT_L_PROCESS : (__u32)number(t);
}

/*
 * Generates functions whose calls or entries are recorded, or instructions: mostly real ones, with programs without
 * instructions or random ones.
 */
static __u64 calls(struct thread *t)
{
	static _Thread_local struct fkt_called called[FUNCTIONS];
	static _Thread_local __u64 programs[PROGRAM_WORDS];
	static _Thread_local struct fkt_calls calls;
	unsigned int i, words = chance(t, 70) ? 2 : 1 + below(t, PROGRAM_WORDS);

	for (i = 0; i < FUNCTIONS; i++)
		called[i] = (struct fkt_called){
			.function = chance(t, 97) ? functions()[i] : number(t),
			.shortest = chance(t, 70) ? 0 : number(t), .number = small(t, 1 << 24),
			.program = small(t, 2), .instrument = small(t, 2),
			.how = chance(t, 80) ? 0 : chance(t, 95) ? below(t, 4) : (__u32)number(t),
			.pad = chance(t, 99) ? 0 : (__u32)number(t),
		};
	if (chance(t, 95))
		qsort(called, FUNCTIONS, sizeof(called[0]), by_address);
	for (i = 0; i < PROGRAM_WORDS; i++)
		programs[i] = chance(t, 80) ? 0 : number(t);
	calls = (struct fkt_calls){
		.functions = (unsigned long)place(t, called, sizeof(called)),
		.programs = (unsigned long)place(t, programs, words * 8),
		.count = chance(t, 95) ? FUNCTIONS : small(t, FUNCTIONS + 1), .program_bytes = words * 8,
		.program_count = words == 2 ? 1 : small(t, words + 1),
		.threads = chance(t, 70) ? 0 : chance(t, 95) ? below(t, 1 << 16) : (__u32)number(t),
	};
	return (unsigned long)place(t, &calls, sizeof(calls));
}

/* Generates tracepoints, as calls() does functions. */
static __u64 points(struct thread *t)
{
	static const char *const names[] = { "sched_switch", "sched_wakeup", "kfree", "page_fault_user", "nothing", "" };
	static _Thread_local struct fkt_point point[FUNCTIONS];
	static char description[] = "fkt1 instruments nothing x=u64";
	static _Thread_local __u64 programs[PROGRAM_WORDS];
	static _Thread_local struct fkt_points points;
	unsigned int i, words = chance(t, 70) ? FUNCTIONS : 1 + below(t, PROGRAM_WORDS);

	for (i = 0; i < FUNCTIONS; i++) {
		point[i] = (struct fkt_point){
			.number = small(t, FKT_POINTS_MOST), .instrument = small(t, 2),
			.arguments = small(t, FKT_POINT_ARGUMENTS + 1),
			.record_bytes = chance(t, 90) ? 0 : chance(t, 50) ? below(t, 100) : (__u32)number(t),
		};
		if (chance(t, 30))
			point[i].probe = (unsigned long)place(t, description, sizeof(description));
		if (chance(t, 97))
			strcpy(point[i].name, names[below(t, chance(t, 80) ? 4 : 6)]);
		else
			memset(point[i].name, 'x', sizeof(point[i].name));
	}
	for (i = 0; i < PROGRAM_WORDS; i++)
		programs[i] = chance(t, 80) ? 0 : number(t);
	points = (struct fkt_points){
		.points = (unsigned long)place(t, point, sizeof(point)),
		.programs = (unsigned long)place(t, programs, words * 8),
		.count = chance(t, 95) ? FUNCTIONS : small(t, FUNCTIONS + 1), .program_bytes = words * 8,
	};
	return (unsigned long)place(t, &points, sizeof(points));
}

/* Generates instruments: a few, mostly with places. */
static __u64 instruments(struct thread *t)
{
	static _Thread_local struct fkt_instrument instrument[INSTRUMENTS];
	static _Thread_local struct fkt_instruments instruments;
	const bool is_plain = chance(t, 60); /* so that another table can follow */
	unsigned int i;

	for (i = 0; i < INSTRUMENTS; i++) {
		if (is_plain) {
			instrument[i] = (struct fkt_instrument){ .layer = FKT_L_INSTRUMENTS };
			continue;
		}
		instrument[i] = (struct fkt_instrument){
			.action = chance(t, 95) ? below(t, FKT_ACTIONS) : (__u32)number(t), .layer = layer(t),
			.flag = chance(t, 80) ? 0 : small(t, FKT_PROGRAM_FLAGS + 1),
		};
		if (instrument[i].action != FKT_ACTION_HISTOGRAM && chance(t, 95))
			continue;
		instrument[i].rows = chance(t, 90) ? 1U << below(t, 8) : (__u32)number(t);
		instrument[i].width = number(t);
		instrument[i].scale = chance(t, 50) ? 0 : (__u32)number(t);
		instrument[i].shift = small(t, 65);
		instrument[i].key_words = small(t, FKT_HISTOGRAM_KEY_WORDS + 2);
		instrument[i].is_signed = small(t, 3);
	}
	instruments = (struct fkt_instruments){
		.instruments = (unsigned long)place(t, instrument, sizeof(instrument)),
		.calls = chance(t, 50) ? calls(t) : 0, .entries = chance(t, 15) ? calls(t) : 0,
		.instructions = chance(t, 15) ? calls(t) : 0, .points = chance(t, 50) ? points(t) : 0,
		.count = chance(t, 95) ? INSTRUMENTS : small(t, INSTRUMENTS),
		.threads = chance(t, 50) ? 0 : chance(t, 95) ? below(t, 1 << 16) : (__u32)number(t),
	};
	return (unsigned long)place(t, &instruments, sizeof(instruments));
}

static __u64 mask(struct thread *t)
{
	return chance(t, 90) ? rnd(t) & (1 << FKT_L_SYSTEM | 1 << FKT_L_FKT | 1 << FKT_L_PROCESS | 1ULL << FKT_L_INSTRUMENTS) : number(t);
}

static __u32 start_flags(struct thread *t)
{
	__u32 flags = chance(t, 50) ? 0 : rnd(t) & (FKT_START_ARGS | FKT_START_NO_PAIRS);

	if (chance(t, 50))
		flags |= chance(t, 70) ? FKT_START_OVERWRITE : FKT_START_STOP_WHEN_FULL;
	if (chance(t, 70))
		flags |= FKT_START_ENGINE(chance(t, 40) ? FKT_ENGINE_URING : small(t, FKT_ENGINE_URING + 2));
	return chance(t, 97) ? flags : flags ^ (__u32)number(t);
}

static __s32 some_pid(struct thread *t)
{
	const __s32 pids[] = { getpid(), getppid(), 1, 0, syscall(SYS_gettid), (__s32)number(t) };

	return pids[below(t, sizeof(pids) / sizeof(pids[0]))];
}

/* Returns a random number; often one whose product with a page's bytes is 2^32. */
static __u32 wraps(struct thread *t)
{
	return chance(t, 50) ? number(t) : 0U - (4096U << below(t, 4));
}

/* What is reserved in a file in memory takes memory at once: as much as there is, if nothing else limits it. */
static struct fkt_start less_memory(struct fkt_start start)
{
	struct statfs fs;

	if (!fstatfs(start.out_fd, &fs) && fs.f_type == TMPFS_MAGIC) {
		start.reserve %= 1 << 24;
		start.reserve_per_page %= 1 << 12;
	}
	return start;
}

static struct fkt_start make_start(struct thread *t)
{
	const struct fkt_start start = {
		.abi = chance(t, 98) ? FKT_ABI_VERSION : (__u32)number(t),
		.size = chance(t, 98) ? sizeof(struct fkt_start) : (__u32)number(t),
		.out_fd = chance(t, 50) ? -1 : chance(t, 90) ? output(t) : any_fd(t),
		.flags = start_flags(t),
		/* Switching hooks takes long: usually use one layer with few hooks, or none. */
		.mask = chance(t, 50) ? 1 << FKT_L_SYSTEM | 1ULL << FKT_L_INSTRUMENTS : chance(t, 60) ? 1 << FKT_L_FKT : mask(t),
		.recording = rnd(t),
		.offset = chance(t, 60) ? 0 : chance(t, 70) ? below(t, 64) << 12 : number(t),
		.limit = chance(t, 60) ? 0 : chance(t, 70) ? below(t, 1 << 22) : number(t),
		.reserve = chance(t, 60) ? 0 : chance(t, 50) ? below(t, 1 << 20) : number(t),
		.reserve_per_page = chance(t, 60) ? 0 : chance(t, 50) ? below(t, 256) : wraps(t),
		.clock = chance(t, 80) ? FKT_CLOCK_TSC : small(t, 3),
		.filter = chance(t, 40) ? FKT_FILTER_NONE : small(t, FKT_FILTER_NOT_SELF + 2),
		.filter_pid = some_pid(t),
		.trigger = chance(t, 70) ? 0 : trigger(t),
		.instruments = chance(t, 75) ? 0 : instruments(t),
	};

	return less_memory(start);
}

static long status(struct thread *t)
{
	struct fkt_status s = { 0 };

	return ioctl(device(t), FKT_STATUS, place(t, &s, sizeof(s)));
}

static long hit_counts(struct thread *t)
{
	struct fkt_hit_counts counts = { .instrument = small(t, 3), .cpu = small(t, 2) ? small(t, 4) : FKT_ALL_CPUS };

	return ioctl(device(t), FKT_HIT_COUNTS, place(t, &counts, sizeof(counts)));
}

static long module_probes(struct thread *t)
{
	static _Thread_local char text[4096];
	struct fkt_probe_list list = {
		.text = (unsigned long)place(t, text, sizeof(text)),
		.bytes = chance(t, 90) ? below(t, sizeof(text)) : (__u32)number(t),
	};

	return ioctl(device(t), FKT_MODULE_PROBES, place(t, &list, sizeof(list)));
}

static long results(struct thread *t)
{
	static _Thread_local struct fkt_histogram_row rows[FKT_RESULTS_ROWS];
	struct fkt_results results = {
		.instrument = small(t, 3), .from = small(t, 300), .rows = (unsigned long)place(t, rows, sizeof(rows)),
		.count = chance(t, 90) ? FKT_RESULTS_ROWS : (__u32)number(t),
	};

	return ioctl(device(t), FKT_RESULTS, place(t, &results, sizeof(results)));
}

static long exchange(struct thread *t)
{
	static char lines[] = "name\tfunction\t1\tx\n";
	struct fkt_exchange exchange = {
		.instruments = chance(t, 97) ? instruments(t) : number(t),
		.lines = (unsigned long)place(t, lines, sizeof(lines)),
		.line_bytes = chance(t, 50) ? 0 : chance(t, 90) ? sizeof(lines) - 1 : (__u32)number(t),
	};

	return ioctl(device(t), FKT_EXCHANGE, place(t, &exchange, sizeof(exchange)));
}

static long start(struct thread *t)
{
	struct world *w = t->w;
	int slot = below(t, SLOTS);
	struct fkt_start s = make_start(t);
	pid_t owner = atomic_load(&w->shared->owner);
	int ret;

	/* It would be refused: there can only be one recording at a time. */
	if (owner && owner != getpid() && chance(t, 90))
		return status(t);
	ret = ioctl(w->device[slot], FKT_START, place(t, &s, sizeof(s)));
	if (!ret) {
		w->starter = slot;
		w->owns = true;
		atomic_store(&w->shared->owner, getpid());
	}
	return ret;
}

static long stop(struct thread *t)
{
	return ioctl(device(t), FKT_STOP);
}

static long free_buffer(struct thread *t)
{
	int ret = ioctl(device(t), FKT_FREEBUFFER);

	if (!ret)
		lost_owner(t->w);
	return ret;
}

/* ---- memory, masks ---- */

static long set_pow(struct thread *t)
{
	/* Usually small rings, which are soon full; up to 16 MiB per CPU; also invalid values, but not 256 MiB. */
	__u32 pow = chance(t, 60) ? 1 + below(t, 4) : chance(t, 75) ? 1 + below(t, 12) : number(t);

	if (pow == 14 || pow == 15 || pow == 16)
		pow = 2;
	return ioctl(device(t), FKT_SETINITPOWPAGES, place(t, &pow, sizeof(pow)));
}

static long try_dma(struct thread *t)
{
	__u32 low = small(t, 2);

	return ioctl(device(t), FKT_SETTRYDMA, place(t, &low, sizeof(low)));
}

static long wait_ready(struct thread *t)
{
	return ioctl(device(t), FKT_WAITREADY);
}

static long change_mask(struct thread *t)
{
	const unsigned long calls[] = { FKT_ENABLE, FKT_DISABLE, FKT_SETMASK };
	__u64 m = mask(t);

	return ioctl(device(t), calls[below(t, 3)], place(t, &m, sizeof(m)));
}

/* ---- queries ---- */

static long cpu_status(struct thread *t)
{
	struct fkt_cpu_status s = { .cpu = small(t, 4) };

	return ioctl(device(t), FKT_CPU_STATUS, place(t, &s, sizeof(s)));
}

static long get_abi(struct thread *t)
{
	__u32 abi = 0;

	return ioctl(device(t), FKT_GET_ABI, place(t, &abi, sizeof(abi)));
}

static long clocks(struct thread *t)
{
	struct fkt_clocks c = { .clock = small(t, 3) };

	return ioctl(device(t), FKT_CLOCKS, place(t, &c, sizeof(c)));
}

static long fired(struct thread *t)
{
	struct fkt_fired f = { 0 };

	return ioctl(device(t), FKT_FIRED, place(t, &f, sizeof(f)));
}

static long join(struct thread *t)
{
	return ioctl(device(t), FKT_JOIN);
}

static long flight(struct thread *t)
{
	__u32 step = small(t, 5);

	return ioctl(device(t), FKT_FLIGHT, place(t, &step, sizeof(step)));
}

static long get_index(struct thread *t)
{
	static _Thread_local struct fkt_index_entry entries[1024];
	struct fkt_index index = {
		.first = small(t, 64),
		.entries = (unsigned long)place(t, entries, sizeof(entries)),
		.count = small(t, 1024),
	};

	return ioctl(device(t), FKT_INDEX, place(t, &index, sizeof(index)));
}

/* ---- lent pages ---- */

static long take(struct thread *t)
{
	struct world *w = t->w;
	__u32 numbers[TAKEN] = { 0 };
	struct fkt_lend lend = {
		.pages = (unsigned long)(chance(t, 90) ? (void *)numbers : place(t, numbers, sizeof(numbers))),
		.count = small(t, TAKEN),
		.flags = chance(t, 95) ? 0 : number(t),
	};
	int ret;

	/* An impossible count must not make the module write beyond the array. */
	if (lend.count > TAKEN)
		lend.pages = (unsigned long)(w->edge + 4096 - TAKEN);
	ret = ioctl(device(t), FKT_TAKE, chance(t, 95) ? &lend : place(t, &lend, sizeof(lend)));
	if (!ret && lend.pages == (unsigned long)numbers && lend.count <= TAKEN) {
		memcpy(w->taken, numbers, sizeof(numbers));
		w->n_taken = lend.count;
	}
	return ret;
}

static long give(struct thread *t)
{
	struct world *w = t->w;
	__u32 numbers[TAKEN];
	struct fkt_lend lend = {
		.pages = (unsigned long)(chance(t, 90) ? (void *)numbers : place(t, numbers, sizeof(numbers))),
		.count = chance(t, 80) ? w->n_taken % TAKEN : small(t, TAKEN),
		.flags = chance(t, 70) ? 0 : chance(t, 90) ? FKT_LEND_UNWRITTEN : number(t),
	};

	memcpy(numbers, w->taken, sizeof(numbers));
	if (chance(t, 20))
		numbers[below(t, TAKEN)] = number(t);
	if (lend.count > TAKEN)
		lend.pages = (unsigned long)(w->edge + 4096 - TAKEN);
	return ioctl(device(t), FKT_GIVE, place(t, &lend, sizeof(lend)));
}

/* ---- others ---- */

static long unknown(struct thread *t)
{
	char bytes[256];
	unsigned long cmd = chance(t, 50) ? _IOC(below(t, 4), FKT_IOC, below(t, 256), below(t, 300)) : number(t);

	switch (cmd) { /* these have functions of their own, above */
	case FKT_TAKE:
	case FKT_START:
	case FKT_SETINITPOWPAGES:
		return -1;
	}
	memset(bytes, (int)rnd(t), sizeof(bytes));
	return ioctl(device(t), cmd, place(t, bytes, sizeof(bytes)));
}

const struct kind ioctl_kinds[] = {
	{ "start", 15, 1, start },
	{ "stop", 2, 4, stop },
	{ "freebuffer", 2, 3, free_buffer },
	{ "setinitpowpages", 6, 0, set_pow },
	{ "settrydma", 2, 0, try_dma },
	{ "waitready", 2, 1, wait_ready },
	{ "mask", 4, 1, change_mask },
	{ "status", 30, 15, status },
	{ "cpu_status", 30, 15, cpu_status },
	{ "get_abi", 10, 3, get_abi },
	{ "clocks", 20, 5, clocks },
	{ "join", 20, 10, join },
	{ "take", 15, 100, take },
	{ "give", 10, 60, give },
	{ "flight", 2, 14, flight },
	{ "fired", 10, 20, fired },
	{ "index", 5, 20, get_index },
	{ "hit_counts", 5, 5, hit_counts },
	{ "module_probes", 5, 5, module_probes },
	{ "results", 5, 5, results },
	{ "exchange", 10, 10, exchange },
	{ "unknown_ioctl", 20, 5, unknown },
	{ 0 },
};
