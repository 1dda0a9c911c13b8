// SPDX-License-Identifier: GPL-2.0-only
/*
 * start_with OUT [FIELD=NUMBER]... starts a recording with these values in its struct fkt_start, into the file
 * or device OUT (`-`: out_fd is -1), makes system calls, stops it and prints "started pages N error N", or
 * the name of the error returned by FKT_START.
 *   FIELD: a member of struct fkt_start, or
 *     engine=N     enum fkt_engine_id
 *     calls=N      system calls made while it records (20000)
 *     pow=N        FKT_SETINITPOWPAGES before it
 *     fsize=BYTES  RLIMIT_FSIZE while FKT_START is called
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

static struct fkt_start s = {
	.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = -1, .mask = 1 << FKT_L_SYSTEM, .recording = 0x6d,
};
static long calls = 20000;
static __u32 pow_pages;
static rlim_t fsize = RLIM_INFINITY;

static void die(const char *what)
{
	fprintf(stderr, "start_with: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int set(const char *option)
{
	const char *is = strchr(option, '=');
	const __u64 number = is ? strtoull(is + 1, NULL, 0) : 0;
	const size_t length = is ? (size_t)(is - option) : 0;

#define SET(name, to)                                                        \
	do {                                                                 \
		if (length == strlen(name) && !strncmp(option, name, length)) { \
			to;                                                  \
			return 0;                                            \
		}                                                            \
	} while (0)
	SET("abi", s.abi = number);
	SET("size", s.size = number);
	SET("flags", s.flags |= number);
	SET("mask", s.mask = number);
	SET("recording", s.recording = number);
	SET("offset", s.offset = number);
	SET("limit", s.limit = number);
	SET("reserve", s.reserve = number);
	SET("reserve_per_page", s.reserve_per_page = number);
	SET("clock", s.clock = number);
	SET("filter", s.filter = number);
	SET("filter_pid", s.filter_pid = number);
	SET("trigger", s.trigger = number);
	SET("engine", s.flags |= FKT_START_ENGINE(number));
	SET("calls", calls = number);
	SET("pow", pow_pages = number);
	SET("fsize", fsize = number);
	return -1;
}

/* The limit applies at FKT_START only, not to what this program does afterwards. */
static int start(int device)
{
	const struct rlimit limit = { .rlim_cur = fsize, .rlim_max = RLIM_INFINITY };
	const struct rlimit none = { .rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY };
	int err;

	if (setrlimit(RLIMIT_FSIZE, &limit))
		die("setrlimit");
	err = ioctl(device, FKT_START, &s) ? errno : 0;
	if (setrlimit(RLIMIT_FSIZE, &none))
		die("setrlimit");
	return err;
}

int main(int argc, char **argv)
{
	struct fkt_status status;
	int i, err, device;

	for (i = 2; i < argc; i++)
		if (set(argv[i]))
			argc = 0;
	if (argc < 2) {
		fputs("start_with: usage: see its head\n", stderr);
		return 2;
	}
	device = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		die(FKT_DEVICE);
	if (pow_pages && ioctl(device, FKT_SETINITPOWPAGES, &pow_pages))
		die("FKT_SETINITPOWPAGES");
	if (strcmp(argv[1], "-")) {
		s.out_fd = open(argv[1], O_WRONLY);
		if (s.out_fd < 0)
			die(argv[1]);
	}
	err = start(device);
	if (err) {
		puts(strerrorname_np(err));
		return 0;
	}
	while (calls-- > 0)
		getppid();
	if (ioctl(device, FKT_STOP))
		die("FKT_STOP");
	if (ioctl(device, FKT_STATUS, &status))
		die("FKT_STATUS");
	printf("started pages %llu error %d\n", (unsigned long long)status.pages_written, status.error);
	return 0;
}
