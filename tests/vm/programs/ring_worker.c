// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes io_uring execute one request in a worker thread, and prints the worker's thread number. Such
 * threads are not created by fork(2) or clone(2).
 */
#include <dirent.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *map(int ring, size_t bytes, off_t what)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);

	if (at == MAP_FAILED) {
		perror("ring_worker: mmap");
		exit(1);
	}
	return at;
}

/* Submits a no-op request that is executed in a worker, and waits until it is done. */
static void work(void)
{
	struct io_uring_params p = { 0 };
	int ring = syscall(SYS_io_uring_setup, 1, &p);
	struct io_uring_sqe *sqe;
	char *sq;

	if (ring < 0) {
		perror("ring_worker: io_uring_setup");
		exit(1);
	}
	sq = map(ring, p.sq_off.array + p.sq_entries * sizeof(unsigned int), IORING_OFF_SQ_RING);
	sqe = map(ring, p.sq_entries * sizeof(*sqe), IORING_OFF_SQES);
	sqe->opcode = IORING_OP_NOP;
	sqe->flags = IOSQE_ASYNC;
	*(unsigned int *)(sq + p.sq_off.array) = 0;
	__atomic_store_n((unsigned int *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) {
		perror("ring_worker: io_uring_enter");
		exit(1);
	}
}

int main(void)
{
	struct dirent *entry;
	DIR *threads;

	work();
	threads = opendir("/proc/self/task");
	if (!threads)
		return 1;
	while ((entry = readdir(threads)))
		if (atoi(entry->d_name) && atoi(entry->d_name) != getpid())
			printf("%s\n", entry->d_name);
	closedir(threads);
	return 0;
}
