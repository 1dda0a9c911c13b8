// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exchanges of the table of instruments while it records (FKT_EXCHANGE): what is counted in each phase is exactly what was
 * called; a refused table leaves the one before in force; calls in flight keep their table's numbers or count as missed;
 * the lines are in pages that say so. Needs root and the module fkt_calls. Argument: rounds under load.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include <fkt/call_event.h>

#include "exchange_table.h"

static struct table table;
static __u32 filter = FKT_FILTER_PROCESS; /* of recordings; 0: all processes */
static pid_t own; /* kill(2) by number: raise(3) would call getpid */

static void make(int getppid_pair, int getpid_pair, int umask_pair, int sleep_pair, unsigned int with)
{
	const int pairs[SYMBOLS] = { getppid_pair, getpid_pair, umask_pair, sleep_pair };

	make_table(&table, pairs, with);
}

/* Returns 0 or an errno. */
static int exchange(int device)
{
	return ioctl(device, FKT_EXCHANGE, &table.exchange) ? errno : 0;
}

static struct fkt_hit_counts counts_of(int device, __u32 instrument)
{
	struct fkt_hit_counts counts = { .instrument = instrument, .cpu = FKT_ALL_CPUS };

	if (ioctl(device, FKT_HIT_COUNTS, &counts))
		memset(&counts, 0xff, sizeof(counts));
	return counts;
}

static int start_table(int device, int out, bool with_table)
{
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = out, .mask = 1ULL << FKT_L_INSTRUMENTS,
		.recording = 0x65786368, .filter = filter, .filter_pid = filter ? own : 0,
		.instruments = with_table ? (unsigned long)&table.all : 0,
	};

	return ioctl(device, FKT_START, &s) ? errno : 0;
}

static int new_output(void)
{
	return open("pages", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void make_calls(unsigned int ppids, unsigned int pids, unsigned int umasks)
{
	while (ppids--)
		syscall(SYS_getppid);
	while (pids--)
		syscall(SYS_getpid);
	while (umasks--)
		syscall(SYS_umask, 022);
}

/* ---- phases ---- */

static __u64 expected[INSTRUMENTS];

static void expect_counts(int device, const char *phase)
{
	char why[200];
	int i;

	for (i = 0; i < INSTRUMENTS; i++) {
		struct fkt_hit_counts counts = counts_of(device, i);
		__u64 missed = 0;
		int j;

		for (j = 0; j < FKT_MISSED_REASONS; j++)
			missed += counts.missed[j];
		snprintf(why, sizeof(why), "instrument %d has %llu and %llu missed, not %llu", i,
			 (unsigned long long)counts.kept, (unsigned long long)missed, (unsigned long long)expected[i]);
		if (counts.kept != expected[i] || missed) {
			expect(phase, false, why);
			return;
		}
	}
	expect(phase, true, "");
}

/* Calls in a phase; those of functions with a pair count. */
static void phase(int device, const char *name, const int pairs[SYMBOLS], unsigned int with)
{
	const unsigned int calls[] = { 20, 30, 40 };
	int i, err;

	make_table(&table, pairs, with);
	err = exchange(device);
	if (err) {
		expect(name, false, strerrorname_np(err));
		return;
	}
	make_calls(calls[0], calls[1], calls[2]);
	for (i = 0; i < 3; i++)
		expected[i] += pairs[i] >= 0 ? calls[i] : 0;
	for (i = 0; i < 5; i++)
		syscall(SYS_kill, own, SIGCHLD);
	expected[POINT] += with & WITH(POINT) ? 5 : 0;
	expected[ENTRY] += with & WITH(ENTRY) ? calls[ENTERED] : 0;
	expected[INSTRUCTION] += with & WITH(INSTRUCTION) ? calls[REACHED] : 0;
	expect_counts(device, name);
}

static void try_phases(int device)
{
	static const struct {
		const char *name;
		int pairs[SYMBOLS];
		unsigned int with;
	} phases[] = {
		{ "the first function is added", { PLAIN, -1, -1, -1 }, 0 },
		{ "the same table again", { PLAIN, -1, -1, -1 }, 0 },
		{ "another function", { PLAIN, PLAIN, -1, -1 }, 0 },
		{ "a larger frame", { FEW, PLAIN, -1, -1 }, 0 },
		{ "a tracepoint", { FEW, PLAIN, -1, -1 }, WITH(POINT) },
		{ "the largest frame, and one more", { MANY, PLAIN, FEW, -1 }, WITH(POINT) },
		{ "frames change places", { PLAIN, MANY, PLAIN, -1 }, WITH(POINT) },
		{ "one is gone", { -1, MANY, PLAIN, -1 }, WITH(POINT) },
		{ "an entry", { -1, MANY, PLAIN, -1 }, WITH(POINT) | WITH(ENTRY) },
		{ "an instruction", { -1, MANY, PLAIN, -1 }, WITH(POINT) | WITH(ENTRY) | WITH(INSTRUCTION) },
		{ "the same places", { -1, MANY, PLAIN, -1 }, WITH(POINT) | WITH(ENTRY) | WITH(INSTRUCTION) },
		{ "no function", { -1, -1, -1, -1 }, WITH(POINT) | WITH(INSTRUCTION) },
		{ "nothing at all", { -1, -1, -1, -1 }, 0 },
		{ "an instruction alone", { -1, -1, -1, -1 }, WITH(INSTRUCTION) },
		{ "all of them", { FEW, FEW, MANY, -1 }, WITH(POINT) | WITH(ENTRY) | WITH(INSTRUCTION) },
		{ "the tracepoint alone is gone", { FEW, FEW, MANY, -1 }, WITH(ENTRY) | WITH(INSTRUCTION) },
	};
	size_t i;

	memset(expected, 0, sizeof(expected));
	make(-1, -1, -1, -1, 0);
	expect("a recording without instruments", !start_table(device, new_output(), false), "it does not start");
	for (i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		phase(device, phases[i].name, phases[i].pairs, phases[i].with);
	expect("number of the table", table.exchange.table == i, "not counted");
	ioctl(device, FKT_STOP);
	expect_counts(device, "after the stop");
	expect("an exchange after the stop", exchange(device) == ENODATA, "not refused");
}

/* ---- hostile tables ---- */

static void try_bad(int device, const char *name, int error)
{
	const int err = exchange(device);

	expect(name, err == error, err ? strerrorname_np(err) : "it was taken");
	make_calls(1, 1, 1);
	if (err)
		expected[GETPPID]++;
	expect_counts(device, "the table before stays in force");
}

#define BAD(name, error, ...)                        \
	do {                                         \
		make(PLAIN, PLAIN, -1, -1, ~0U);     \
		__VA_ARGS__;                         \
		try_bad(device, name, error);        \
	} while (0)

static char lines[FKT_DEFINE_MOST];

static void give_lines(const char *text, __u32 bytes)
{
	table.exchange.lines = (unsigned long)text;
	table.exchange.line_bytes = bytes;
}

static void try_hostile(int device)
{
	int other = open_device();

	memset(expected, 0, sizeof(expected));
	make(PLAIN, -1, -1, -1, 0);
	expect("an exchange without a recording", exchange(device) == ENODATA, "not refused");
	expect("a recording with a table", !start_table(device, new_output(), true), "it does not start");
	memset(lines, 'x', sizeof(lines));
	BAD("no table", EINVAL, table.exchange.instruments = 0);
	BAD("a table that is not mapped", EFAULT, table.exchange.instruments = 4096);
	BAD("no instruments", EINVAL, table.all.count = 0);
	BAD("fewer instruments", EINVAL, table.all.count = 1; table.called[0].instrument = 0; table.called[1].instrument = 0;
	    table.point.instrument = 0);
	BAD("too many instruments", EINVAL, table.all.count = FKT_INSTRUMENTS_MOST + 1);
	BAD("another layer", EINVAL, table.instruments[0].layer = FKT_L_SYSTEM);
	BAD("another action", EINVAL, table.instruments[1].action = FKT_ACTION_COUNT);
	BAD("an unknown action", EINVAL, table.instruments[0].action = FKT_ACTIONS);
	BAD("functions that are not mapped", EFAULT, table.calls.functions = 4096);
	BAD("address 0", EINVAL, table.called[0].function = 0);
	BAD("no such instruction", EILSEQ, table.reached.function = at[SLEEP] + 1);
	BAD("an entry of no function", EINVAL, table.entered.function = at[SLEEP] + 3);
	BAD("data", EINVAL, table.called[1].function = at[SLEEP] + 3);
	BAD("no such tracepoint", ENXIO, strcpy(table.point.name, "no_such_tracepoint"));
	BAD("a program that makes no sense", EINVAL, table.programs[sizeof(struct fkt_program)] = 1);
	BAD("lines that are not mapped", EFAULT, give_lines((char *)4096, 10));
	BAD("too many bytes of lines", EINVAL, give_lines(lines, FKT_DEFINE_MOST + 1));
	BAD("a line without an end", EINVAL, give_lines("name\tx\t1\ty", 10));
	BAD("a line that is too long", EINVAL, lines[FKT_DEFINE_BYTES] = '\n'; give_lines(lines, FKT_DEFINE_BYTES + 1));
	BAD("a zero byte", EINVAL, give_lines("a\0b\n", 4));
	make(PLAIN, -1, -1, -1, 0);
	expect("a file that is not the owner", ioctl(other, FKT_EXCHANGE, &table.exchange) && errno == ENODATA,
	       "not refused");
	expect_counts(device, "... changes nothing");
	ioctl(device, FKT_STOP);
	close(other);
}

/* ---- calls in flight ---- */

static pid_t asleep; /* the thread that sleeps in a call; 0 before it has said which */

static void woken(int number)
{
	(void)number;
}

static void *sleep_until_woken(void *unused)
{
	const struct timespec time = { .tv_sec = 1000 };

	__atomic_store_n(&asleep, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	nanosleep(&time, NULL);
	return unused;
}

/* Waits until the thread sleeps in nanosleep(2). */
static void wait_for_sleep(void)
{
	char path[64], where[64] = "";
	ssize_t n;
	int fd;

	while (!strstr(where, "nanosleep")) {
		usleep(0);
		snprintf(path, sizeof(path), "/proc/self/task/%d/wchan", __atomic_load_n(&asleep, __ATOMIC_ACQUIRE));
		fd = open(path, O_RDONLY);
		n = fd < 0 ? 0 : read(fd, where, sizeof(where) - 1);
		where[n > 0 ? n : 0] = 0;
		if (fd >= 0)
			close(fd);
	}
}

/*
 * A thread sleeps in a call while the table is exchanged so many times. after: -1: its function is gone. Returns its
 * counts, without those of the calls that waited for it.
 */
static struct fkt_hit_counts in_flight(int device, int before, int after, int exchanges)
{
	struct fkt_hit_counts counts, early;
	pthread_t thread;

	make(-1, -1, -1, before, 0);
	start_table(device, new_output(), true);
	asleep = 0;
	pthread_create(&thread, NULL, sleep_until_woken, NULL);
	wait_for_sleep();
	early = counts_of(device, SLEEP);
	make(PLAIN, -1, -1, after, 0);
	while (exchanges--)
		exchange(device);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	counts = counts_of(device, SLEEP);
	counts.kept -= early.kept;
	ioctl(device, FKT_STOP);
	return counts;
}

/* Whether the pages have a call of the thread that slept with the values of OTHERS: nanosleep(2) was interrupted. */
static bool has_others(void)
{
	static const __u64 others[] = { 1 /* HRTIMER_MODE_REL */, 1000 * 1000000000ULL, -516 /* ERESTART_RESTARTBLOCK */ };
	static __u64 words[PAGE_BYTES / 8];
	const int file = open("pages", O_RDONLY);
	bool found = false;
	__u64 offset;
	__u32 i;

	for (offset = 0; pread(file, words, sizeof(words), offset) == sizeof(words); offset += sizeof(words))
		for (i = 0; i + 6 <= PAGE_BYTES / 8; i++)
			found |= fkt_word_id(words[i]) == FKT_E_CALL_VALUES && fkt_word_arg(words[i]) == 5 &&
				 (words[i + 1] & ((1 << FKT_CALL_NUMBER_BITS) - 1)) == SLEEP &&
				 !memcmp(&words[i + 3], others, sizeof(others));
	close(file);
	return found;
}

/* The values are those of the table in force when the call returns: of the call's own arguments. */
static void try_other_values(int device)
{
	in_flight(device, VALUES, OTHERS, 1);
	expect("... and its values are those that are asked for", has_others(), "not in the pages");
	filter = 0;
	in_flight(device, VALUES, OTHERS, 1);
	expect("... in all processes", has_others(), "not in the pages");
	filter = FKT_FILTER_PROCESS;
}

static void try_in_flight(int device)
{
	static const struct {
		const char *name;
		int before, after;
		__u64 kept, missed;
	} tries[] = {
		{ "a call that sleeps while its function stays", PLAIN, PLAIN, 1, 0 },
		{ "... with what it kept", FEW, FEW, 1, 0 },
		{ "... and its function is gone", PLAIN, -1, 0, 1 },
		{ "... with what it kept", MANY, -1, 0, 1 },
		{ "... and its programs are others", FEW, MANY, 0, 1 },
		{ "... which keep more", PLAIN, FEW, 0, 1 },
		{ "... which keep the same", FEW, OTHERS, 1, 0 },
		{ "... which keep less", MANY, OTHERS, 0, 1 },
	};
	struct fkt_hit_counts forgotten;
	char why[100];
	size_t i;

	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct fkt_hit_counts counts = in_flight(device, tries[i].before, tries[i].after, 1);
		__u64 stale = counts.missed[FKT_MISSED_STALE];

		snprintf(why, sizeof(why), "%llu kept, %llu missed", (unsigned long long)counts.kept,
			 (unsigned long long)stale);
		expect(tries[i].name, counts.kept == tries[i].kept && stale == tries[i].missed, why);
	}
	expect("a call that sleeps over eight exchanges without its function",
	       in_flight(device, PLAIN, -1, 8).missed[FKT_MISSED_STALE] == 1, "it is not missed");
	/* The function is forgotten by then, so that tables do not grow for ever: the call counts, but as nobody's. */
	forgotten = in_flight(device, PLAIN, -1, 9);
	expect("... over nine", !forgotten.missed[FKT_MISSED_STALE] && forgotten.taken == 1, "the function is still there");
	try_other_values(device);
}

/* ---- what is kept ---- */

/* Tries a table in which calls of getppid bring along those at most so many levels below; 0: a table without functions. */
static void try_levels(int device, const char *name, int error, __u32 levels)
{
	int err;

	make(levels ? PLAIN : -1, -1, -1, -1, 0);
	table.calls.threads = 1024;
	table.calls.keep = (struct fkt_keep){ .where = FKT_KEEP_IN_TASK, .levels = levels };
	err = exchange(device);
	expect(name, err == error, err ? strerrorname_np(err) : "it was taken");
}

/* All tables of a recording have the same fkt_keep: others are refused, also after a table without calls. */
static void try_keep(int device)
{
	make(-1, -1, -1, -1, 0);
	start_table(device, new_output(), true);
	try_levels(device, "calls that are kept", 0, 1);
	try_levels(device, "other calls", EOPNOTSUPP, 2);
	try_levels(device, "no calls", 0, 0);
	try_levels(device, "other calls after that", EOPNOTSUPP, 2);
	try_levels(device, "no calls again", 0, 0);
	try_levels(device, "other calls after these", EOPNOTSUPP, 2);
	try_levels(device, "the same calls after all that", 0, 1);
	ioctl(device, FKT_STOP);
}

/* ---- lines ---- */

/* Returns the text of all events DEFINE in the pages; in others than flagged pages there must be none. */
static size_t defined(char *text, size_t most)
{
	static union {
		struct fkt_page_header header;
		__u64 words[PAGE_BYTES / 8];
	} page;
	const int file = open("pages", O_RDONLY);
	size_t used = 0;
	__u64 offset;

	for (offset = 0; pread(file, &page, sizeof(page), offset) == sizeof(page); offset += sizeof(page)) {
		__u32 i, n;

		if (page.header.magic != FKT_PAGE_MAGIC || !(page.header.flags & FKT_PAGE_DEFINES))
			continue;
		for (i = page.header.header_bytes / 8; i < page.header.used / 8; i++) {
			if (fkt_word_id(page.words[i]) != FKT_E_DEFINE)
				continue;
			n = fkt_word_arg(page.words[i]) & FKT_VAR_MASK;
			if (i + n >= PAGE_BYTES / 8 || used + 8 * n >= most)
				break;
			memcpy(text + used, &page.words[i + 1], 8 * n);
			text[used + 8 * n] = 0;
			used += strlen(text + used);
			i += n;
		}
	}
	close(file);
	return used;
}

static void try_lines(int device)
{
	static char given[1 << 20], found[1 << 20];
	char why[100];
	size_t bytes = 0, used;
	cpu_set_t all, one;
	int i, err;

	/* The file has each CPU's pages in order. */
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);

	for (i = 0; bytes < sizeof(given) - 200; i++)
		bytes += sprintf(given + bytes, "name\tfunction\t%d\t%.*s\n", i, i % 90, lines + 1);
	make(PLAIN, -1, -1, -1, 0);
	start_table(device, new_output(), true);
	give_lines(given, bytes);
	err = exchange(device);
	expect("a megabyte of lines", !err, strerrorname_np(err));
	ioctl(device, FKT_STOP);
	used = defined(found, sizeof(found));
	sched_setaffinity(0, sizeof(all), &all);
	snprintf(why, sizeof(why), "%zu bytes of %zu, or others", used, bytes);
	expect("... is in the pages that say so", used == bytes && !memcmp(given, found, bytes), why);
}

/* ---- under load ---- */

static atomic_bool goes_on;
static atomic_ullong made;

static void *hammer(void *unused)
{
	while (atomic_load(&goes_on)) {
		make_calls(10, 10, 10);
		atomic_fetch_add(&made, 10);
	}
	return unused;
}

static void try_load(int device, int rounds)
{
	const __u64 quiet = 50;
	struct fkt_hit_counts before = { 0 }, after = { 0 };
	pthread_t thread[2];
	int i, err = 0, wrong = 0, first = 0;

	make(PLAIN, -1, -1, -1, 0);
	start_table(device, new_output(), true);
	srandom(1);
	for (i = 0; i < rounds; i++) {
		int pair = random() % PAIRS;
		int j;

		atomic_store(&goes_on, true);
		for (j = 0; j < 2; j++)
			pthread_create(&thread[j], NULL, hammer, NULL);
		make(random() % 4 - 1, random() % 4 - 1, random() % 4 - 1, random() % 4 - 1, random() % 4);
		err = exchange(device);
		make(pair, random() % 4 - 1, random() % 4 - 1, random() % 4 - 1, random() % 4);
		first = first ?: err;
		err = exchange(device);
		first = first ?: err;
		atomic_store(&goes_on, false);
		for (j = 0; j < 2; j++)
			pthread_join(thread[j], NULL);
		/* Nothing is in flight: what follows is counted exactly. */
		before = counts_of(device, GETPPID);
		make_calls(quiet, 0, 0);
		after = counts_of(device, GETPPID);
		wrong += after.kept - before.kept != quiet;
	}
	expect("exchanges under load", !first, strerrorname_np(first));
	expect("calls behind each exchange", !wrong, "not as many as were made");
	expect("calls at all", atomic_load(&made) && after.kept >= quiet * rounds, "too few");
	expect("calls that are taken", !after.taken, "some count as somebody else's");
	ioctl(device, FKT_STOP);
}

int main(int argc, char **argv)
{
	const int device = open_device();
	int i;

	own = getpid();
	signal(SIGCHLD, SIG_IGN);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = woken }, NULL);
	find_symbols(names, at, SYMBOLS);
	for (i = 0; i < SYMBOLS; i++)
		expect(names[i], at[i], "not in /proc/kallsyms");
	try_phases(device);
	try_hostile(device);
	try_in_flight(device);
	try_keep(device);
	try_lines(device);
	try_load(device, argc > 1 ? atoi(argv[1]) : 40);
	return 0;
}
