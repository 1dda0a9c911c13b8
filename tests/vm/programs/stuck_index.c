// SPDX-License-Identifier: GPL-2.0-only
/*
 * stuck_index OUT: records to OUT, stops, and asks for the index (FKT_INDEX) in memory whose page
 * faults are never served (userfaultfd): prints "asking" before, and stays in the call until it is
 * killed. Prints "no userfaultfd" if the kernel does not have it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fkt/events.h>
#include <fkt/file.h>
#include <fkt/ioctl.h>

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "stuck_index: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Returns one page of memory whose fault is never served; NULL if this kernel has no userfaultfd. */
static void *absent_memory(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	const long page = sysconf(_SC_PAGESIZE);
	int fault = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *memory;

	if (fault < 0 && errno == ENOSYS)
		return NULL;
	check(fault >= 0 && !ioctl(fault, UFFDIO_API, &api), "userfaultfd");
	memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(memory != MAP_FAILED, "mmap");
	range.range.start = (unsigned long)memory;
	range.range.len = page;
	check(!ioctl(fault, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
	return memory;
}

int main(int argc, char **argv)
{
	int device = open(FKT_DEVICE, O_RDWR | O_CLOEXEC), i;
	int out = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0600) : -1;
	struct fkt_start start = {
		.abi = FKT_ABI_VERSION, .size = sizeof(start), .out_fd = out, .mask = 1 << FKT_L_SYSTEM,
		.recording = 1,
	};
	struct fkt_index index = { .count = 1 };
	void *memory = absent_memory();

	if (!memory) {
		puts("no userfaultfd");
		return 0;
	}
	check(device >= 0 && out >= 0, "open");
	check(!ioctl(device, FKT_START, &start), "FKT_START");
	for (i = 0; i < 20000; i++)
		getppid();
	check(!ioctl(device, FKT_STOP), "FKT_STOP");
	index.entries = (unsigned long)memory;
	puts("asking");
	fflush(stdout);
	check(!ioctl(device, FKT_INDEX, &index), "FKT_INDEX");
	return 0;
}
