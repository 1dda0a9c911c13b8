// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile plans of places in user programs (struct fkt_users): each is refused with its errno, and afterwards a sound
 * plan starts and records its hits. A user without rights is refused. Needs root.
 */
#define _GNU_SOURCE
#include <grp.h>

#include "user_plan.h"

#define NOBODY 65534

static void expect_sound(int device, const char *after)
{
	char why[100];
	__u64 kept;
	int err;

	make_sound();
	err = run(device, &kept);
	snprintf(why, sizeof(why), "%s, %llu hits, after %s", err ? strerrorname_np(err) : "started",
		 (unsigned long long)kept, after);
	expect("a sound plan", !err && kept == PLACES * HITS, why);
}

/* The plan as it is now must be refused with `error`. */
static void expect_refused(int device, const char *name, int error)
{
	__u64 kept;
	const int err = run(device, &kept);

	expect(name, err == error, err ? strerrorname_np(err) : "started");
	expect_sound(device, name);
}

#define TRY(name, error, ...)                       \
	do {                                        \
		make_sound();                       \
		__VA_ARGS__;                        \
		expect_refused(device, name, error); \
	} while (0)

static void try_tables(int device)
{
	TRY("no places", EINVAL, plan.users.count = 0);
	TRY("too many places", EINVAL, plan.users.count = FKT_USERS_MOST + 1);
	TRY("2^32 - 1 places", EINVAL, plan.users.count = ~0U);
	TRY("places that are not mapped", EFAULT, plan.users.places = 4096);
	TRY("more places than are mapped", EFAULT, plan.users.places = (unsigned long)&(&plan)[1] & ~4095UL,
	    plan.users.count = FKT_USERS_MOST);
	TRY("places in the kernel's memory", EFAULT, plan.users.places = 0xffffffff81000000);
	TRY("a plan that is not mapped", EFAULT, plan.instruments.users = 4096);
	TRY("the padding", EINVAL, plan.users.pad = 1);
	TRY("no programs", EINVAL, plan.users.program_count = 0);
	TRY("more programs than bytes", EINVAL, plan.users.program_count = 2);
	TRY("2^32 - 1 programs", EINVAL, plan.users.program_count = ~0U);
	TRY("programs of 2^32 - 1 bytes", EINVAL, plan.users.program_bytes = ~0U);
	TRY("programs cut short", EINVAL, plan.users.program_bytes -= 8);
	TRY("programs that are not mapped", EFAULT, plan.users.programs = 4096);
	TRY("a second program that would never run", EINVAL, plan.programs[1].insns = 1);
}

static void try_places(int device)
{
	int other[2];

	TRY("a number too large", EINVAL, plan.places[1].number = FKT_USER_NUMBERS);
	TRY("a program that is none", EINVAL, plan.places[1].program = 1);
	TRY("an instrument that is none", EINVAL, plan.places[1].instrument = 1);
	TRY("a kind of place that is none", EINVAL, plan.places[1].how = FKT_USER_HOWS);
	TRY("a kind of place far from any", EINVAL, plan.places[1].how = ~0U);
	TRY("a probe of the program with a second program", EINVAL, plan.places[1].how = FKT_USER_PROBE,
	    plan.programs[1].insns = 1);
	TRY("a negative offset", EINVAL, plan.places[1].offset = 1ULL << 63);
	TRY("a negative counter", EINVAL, plan.places[1].counter = ~0ULL);
	TRY("an offset behind the file's end", EINVAL, plan.places[1].offset = 1ULL << 40);
	TRY("the middle of the file's last page", EINVAL, plan.places[1].offset = ~0ULL >> 1);
	TRY("no file", EBADF, plan.places[1].file = -1);
	TRY("a descriptor that is not open", EBADF, plan.places[1].file = 999);
	other[0] = open("/", O_RDONLY | O_DIRECTORY);
	TRY("a directory", EINVAL, plan.places[1].file = other[0]);
	close(other[0]);
	other[0] = open("/dev/null", O_RDWR);
	TRY("a device", EINVAL, plan.places[1].file = other[0]);
	close(other[0]);
	TRY("the module's own device", EINVAL, plan.places[1].file = device);
	if (pipe(other))
		exit(1);
	TRY("a pipe", EINVAL, plan.places[1].file = other[0]);
	close(other[0]);
	close(other[1]);
	other[0] = open("written", O_WRONLY | O_CREAT, 0600);
	TRY("a file that is open for writing only", EINVAL, plan.places[1].file = other[0]);
	close(other[0]);
	other[0] = open("/proc/self/exe", O_PATH);
	TRY("a file that is open as a path", EBADF, plan.places[1].file = other[0]);
	close(other[0]);
}

/*
 * Makes the places see a whole call and an exit: the first program emits a register `ins` times, the second one the word
 * `word` of its hit, if there is one.
 */
static void make_returns(unsigned int ins, int word)
{
	static struct {
		struct fkt_program head;
		struct fkt_insn insns[FKT_CALL_KEPT + 1];
	} first;
	static unsigned char block[2 * sizeof(first)];
	const struct fkt_insn emit = { .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = word < 0 ? 0 : word };
	const struct fkt_program second = { .insns = word >= 0, .words = word >= 0 };
	const size_t bytes = FKT_PROGRAM_BYTES(ins, 0);
	unsigned int i;

	first.head = (struct fkt_program){ .insns = ins, .words = ins };
	for (i = 0; i < ins; i++)
		first.insns[i] = (struct fkt_insn){ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD };
	memcpy(block, &first, bytes);
	memcpy(block + bytes, &second, sizeof(second));
	memcpy(block + bytes + sizeof(second), &emit, sizeof(emit));
	plan.users.programs = (unsigned long)block;
	plan.users.program_bytes = bytes + FKT_PROGRAM_BYTES(second.insns, 0);
	plan.places[0].how = FKT_USER_CALL;
	plan.places[1].how = FKT_USER_EXIT;
}

static void expect_returns(int device, const char *name, unsigned int ins, int word)
{
	char why[100];
	__u64 kept;
	int err;

	make_sound();
	make_returns(ins, word);
	err = run(device, &kept);
	snprintf(why, sizeof(why), "%s, %llu hits", err ? strerrorname_np(err) : "started", (unsigned long long)kept);
	expect(name, !err && kept == PLACES * HITS, why);
}

static void try_returns(int device)
{
	expect_returns(device, "calls and exits", 0, -1);
	expect_returns(device, "calls and exits with results", 0, FKT_CALL_RESULT);
	expect_returns(device, "calls and exits with all that is kept", FKT_CALL_KEPT,
		       FKT_CALL_FIRST_KEPT + FKT_CALL_KEPT - 1);
	TRY("a first program that emits more than is kept", EINVAL, make_returns(FKT_CALL_KEPT + 1, -1));
	TRY("a second program that asks for what was not kept", EINVAL, make_returns(1, FKT_CALL_FIRST_KEPT + 1));
	TRY("a second program that asks for what no hit has", EINVAL, make_returns(0, FKT_HIT_WORDS - 1));
	TRY("a second program at an entry", EINVAL, make_returns(0, FKT_CALL_RESULT),
	    plan.places[1].how = FKT_USER_REACHED);
}

static void try_as_nobody(void)
{
	__u64 kept;
	int device, err;

	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		exit(1);
	/* The rights of an open file are those that its opener had. */
	device = open_device();
	make_sound();
	err = run(device, &kept);
	expect("a user without rights", err == EACCES, err ? strerrorname_np(err) : "started");
	close(device);
}

int main(void)
{
	int device, status;
	pid_t child;

	self = open("/proc/self/exe", O_RDONLY);
	child = fork();
	if (!child) {
		try_as_nobody();
		_exit(0);
	}
	waitpid(child, &status, 0);
	device = open_device();
	expect_sound(device, "nothing");
	try_tables(device);
	try_places(device);
	try_returns(device);
	close(device);
	return status != 0;
}
