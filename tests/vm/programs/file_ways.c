// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes files in each way that the kernel has, each with a number of bytes of its own.
 *   file_ways prepare	makes the files in the current directory
 *   file_ways run	does all; prints "FILE WHAT COUNT BYTES" for each, what fkt_print --files has to say of it:
 *			COUNT is - where the kernel decides it, and BYTES 0 where none are seen
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define DATA (64 << 10)
static char *data; /* aligned for O_DIRECT */
static int preparing;

static void check(long result, long expected, const char *what)
{
	if (result == expected)
		return;
	fprintf(stderr, "file_ways: %s: %ld instead of %ld (%s)\n", what, result, expected, strerror(errno));
	exit(1);
}

/* Opens the file; makes it first, with `bytes` bytes, when preparing. */
static int opened(const char *name, int flags, long bytes)
{
	int fd = open(name, flags | (preparing ? O_CREAT : 0), 0600);

	if (fd < 0) {
		perror(name);
		exit(1);
	}
	if (preparing && bytes) {
		int plain = open(name, O_WRONLY);

		check(write(plain, data, bytes), bytes, name);
		close(plain);
	}
	return fd;
}

static void say(const char *file, const char *what, const char *count, long bytes)
{
	printf("%s %s %s %ld\n", file, what, count, bytes);
}

/* ---- the system calls that read or write one piece ---- */

enum { PLAIN, AT, VECTOR, VECTOR_AT };

static void read_by(const char *name, int how, int flags, long bytes)
{
	int fd = opened(name, O_RDONLY | flags, bytes);
	struct iovec parts[] = { { data, 1000 }, { data + 1000, bytes - 1000 } };

	if (preparing)
		return;
	check(how == PLAIN  ? read(fd, data, bytes) :
	      how == AT	    ? pread(fd, data, bytes, 0) :
	      how == VECTOR ? readv(fd, parts, 2) :
			      preadv2(fd, parts, 2, 0, 0),
	      bytes, name);
	say(name, "read", "1", bytes);
}

static void write_by(const char *name, int how, int flags, long bytes)
{
	int fd = opened(name, O_WRONLY | flags, 0);
	struct iovec parts[] = { { data, 1000 }, { data + 1000, bytes - 1000 } };

	if (preparing)
		return;
	check(how == PLAIN  ? write(fd, data, bytes) :
	      how == AT	    ? pwrite(fd, data, bytes, 0) :
	      how == VECTOR ? writev(fd, parts, 2) :
			      pwritev2(fd, parts, 2, 0, 0),
	      bytes, name);
	say(name, "write", "1", bytes);
}

/* What mmap(2) reads and writes is seen as faults alone. */
static void map(const char *name, long bytes)
{
	int fd = opened(name, O_RDWR, bytes);
	volatile char *at;

	if (preparing)
		return;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(at == MAP_FAILED, 0, name);
	at[5000]++;
	say(name, "read", "0", 0);
	say(name, "write", "0", 0);
	check(msync((void *)at, bytes, MS_SYNC), 0, name);
	check(fsync(fd), 0, name);
	check(fdatasync(fd), 0, name);
	say(name, "sync", "3", 0);
}

/* ---- from file to file within the kernel ---- */

static void copy_by(const char *from, const char *to, int is_range, long bytes)
{
	int in = opened(from, O_RDONLY, bytes), out = opened(to, O_WRONLY, 0);

	if (preparing)
		return;
	check(is_range ? copy_file_range(in, NULL, out, NULL, bytes, 0) : sendfile(out, in, NULL, bytes), bytes, from);
	say(from, "read", "-", bytes);
	say(to, "write", "-", bytes);
}

static void through_pipes(long bytes)
{
	int in = opened("splice", O_RDONLY, bytes), out = opened("splice.out", O_WRONLY, 0);
	int first = opened("tee.out", O_WRONLY, 0), user = opened("vmsplice.out", O_WRONLY, 0);
	struct iovec part = { data, bytes + 2 };
	int a[2], b[2];

	if (preparing)
		return;
	check(pipe(a) | pipe(b), 0, "pipe");
	check(splice(in, NULL, a[1], NULL, bytes, 0), bytes, "splice");
	check(tee(a[0], b[1], bytes - 1, 0), bytes - 1, "tee");
	check(splice(a[0], NULL, out, NULL, bytes, 0), bytes, "splice.out");
	check(splice(b[0], NULL, first, NULL, bytes, 0), bytes - 1, "tee.out");
	check(vmsplice(a[1], &part, 1, 0), bytes + 2, "vmsplice");
	check(splice(a[0], NULL, user, NULL, bytes + 2, 0), bytes + 2, "vmsplice.out");
	say("splice", "read", "-", bytes);
	say("splice.out", "write", "-", bytes);
	say("tee.out", "write", "-", bytes - 1);
	say("vmsplice.out", "write", "-", bytes + 2);
}

/* ---- libaio ---- */

static void aio(const char *name, int is_write, int flags, long bytes)
{
	int fd = opened(name, O_RDWR | flags, bytes);
	struct iocb cb = { .aio_fildes = fd, .aio_nbytes = bytes, .aio_buf = (uintptr_t)data };
	struct iocb *list = &cb;
	struct io_event done;
	aio_context_t ctx = 0;

	if (preparing)
		return;
	cb.aio_lio_opcode = is_write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
	check(syscall(SYS_io_setup, 4, &ctx), 0, "io_setup");
	check(syscall(SYS_io_submit, ctx, 1, &list), 1, "io_submit");
	check(syscall(SYS_io_getevents, ctx, 1, 1, &done, NULL), 1, "io_getevents");
	check(done.res, bytes, name);
	check(syscall(SYS_io_destroy, ctx), 0, "io_destroy");
	say(name, is_write ? "write" : "read", "0", 0); /* not seen */
}

/* ---- io_uring ---- */

struct uring {
	int fd;
	struct io_uring_params p;
	char *rings;
	struct io_uring_sqe *sqes;
};

static void uring_make(struct uring *u, unsigned int flags)
{
	struct iovec part = { data, DATA };

	memset(u, 0, sizeof(*u));
	u->p.flags = flags;
	u->p.sq_thread_idle = 2000;
	u->fd = syscall(SYS_io_uring_setup, 4, &u->p);
	check(u->fd < 0, 0, "io_uring_setup");
	u->rings = mmap(NULL, u->p.cq_off.cqes + u->p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
			MAP_SHARED, u->fd, IORING_OFF_SQ_RING);
	u->sqes = mmap(NULL, u->p.sq_entries * sizeof(*u->sqes), PROT_READ | PROT_WRITE, MAP_SHARED, u->fd,
		       IORING_OFF_SQES);
	check(u->rings == MAP_FAILED || u->sqes == MAP_FAILED, 0, "mmap of the rings");
	check(syscall(SYS_io_uring_register, u->fd, IORING_REGISTER_BUFFERS, &part, 1), 0, "register");
}

/* Has one request done, and returns its result. */
static int uring_do(struct uring *u, const struct io_uring_sqe *sqe)
{
	unsigned int *tail = (unsigned int *)(u->rings + u->p.sq_off.tail);
	unsigned int *list = (unsigned int *)(u->rings + u->p.sq_off.array);
	unsigned int mask = *(unsigned int *)(u->rings + u->p.sq_off.ring_mask);
	unsigned int *head = (unsigned int *)(u->rings + u->p.cq_off.head);
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(u->rings + u->p.cq_off.cqes);
	unsigned int cq_mask = *(unsigned int *)(u->rings + u->p.cq_off.ring_mask);
	int polled = u->p.flags & IORING_SETUP_SQPOLL;
	unsigned int at = *tail & mask;
	int result;

	u->sqes[at] = *sqe;
	list[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	check(syscall(SYS_io_uring_enter, u->fd, 1, 1,
		      IORING_ENTER_GETEVENTS | (polled ? IORING_ENTER_SQ_WAKEUP : 0), NULL, 0),
	      1, "io_uring_enter");
	result = cqes[*head & cq_mask].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

static void uring(const char *name, int op, int sqe_flags, int setup, int flags, long bytes)
{
	int fd = opened(name, O_RDWR | flags, bytes);
	struct iovec part = { data, bytes };
	int is_vector = op == IORING_OP_READV || op == IORING_OP_WRITEV;
	int is_write = op == IORING_OP_WRITEV || op == IORING_OP_WRITE_FIXED || op == IORING_OP_WRITE;
	struct io_uring_sqe sqe = {
		.opcode = op,
		.flags = sqe_flags,
		.fd = fd,
		.addr = is_vector ? (uintptr_t)&part : (uintptr_t)data,
		.len = is_vector ? 1 : bytes,
	};
	struct uring u;

	if (preparing)
		return;
	uring_make(&u, setup);
	if (op == IORING_OP_FSYNC)
		sqe.addr = sqe.len = 0;
	check(uring_do(&u, &sqe), op == IORING_OP_FSYNC ? 0 : bytes, name);
	close(u.fd);
	if (op == IORING_OP_FSYNC)
		say(name, "sync", "1", 0);
	else
		say(name, is_write ? "write" : "read", "0", 0); /* not seen */
}

int main(int argc, char **argv)
{
	preparing = argc > 1 && !strcmp(argv[1], "prepare");
	data = mmap(NULL, DATA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(data, 'x', DATA);
	read_by("read", PLAIN, 0, 10001);
	read_by("pread", AT, 0, 10002);
	read_by("readv", VECTOR, 0, 10003);
	read_by("preadv2", VECTOR_AT, 0, 10004);
	read_by("direct", PLAIN, O_DIRECT, 12288);
	write_by("write", PLAIN, 0, 20001);
	write_by("pwrite", AT, 0, 20002);
	write_by("writev", VECTOR, 0, 20003);
	write_by("pwritev2", VECTOR_AT, 0, 20004);
	write_by("direct.out", PLAIN, O_DIRECT, 24576);
	map("mmap", 10006);
	copy_by("sendfile", "sendfile.out", 0, 30007);
	copy_by("range", "range.out", 1, 30008);
	through_pipes(30009);
	aio("aio", 0, 0, 10010);
	aio("aio.out", 1, 0, 20010);
	aio("aio.direct", 0, O_DIRECT, 16384);
	aio("aio.direct.out", 1, O_DIRECT, 20480);
	uring("uring", IORING_OP_READ, 0, 0, 0, 10011);
	uring("uring.out", IORING_OP_WRITE, 0, 0, 0, 20011);
	uring("uring.vector", IORING_OP_READV, 0, 0, 0, 10012);
	uring("uring.vector.out", IORING_OP_WRITEV, 0, 0, 0, 20012);
	uring("uring.fixed", IORING_OP_READ_FIXED, 0, 0, 0, 10013);
	uring("uring.fixed.out", IORING_OP_WRITE_FIXED, 0, 0, 0, 20013);
	uring("uring.worker", IORING_OP_READ, IOSQE_ASYNC, 0, 0, 10014);
	uring("uring.worker.out", IORING_OP_WRITE, IOSQE_ASYNC, 0, 0, 20014);
	uring("uring.direct", IORING_OP_READ, 0, 0, O_DIRECT, 8192);
	uring("uring.direct.out", IORING_OP_WRITE, 0, 0, O_DIRECT, 28672);
	uring("uring.poll", IORING_OP_READ, 0, IORING_SETUP_SQPOLL, 0, 10015);
	uring("uring.sync", IORING_OP_FSYNC, 0, 0, 0, 10016);
	return 0;
}
