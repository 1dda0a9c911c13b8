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
#include <linux/fuse.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
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

enum way { READ, PREAD, READV, PREADV2, WRITE, PWRITE, WRITEV, PWRITEV2 };

static long moved_by(enum way way, int fd, long bytes)
{
	struct iovec parts[] = { { data, 1000 }, { data + 1000, bytes - 1000 } };

	switch (way) {
	case READ:
		return read(fd, data, bytes);
	case PREAD:
		return pread(fd, data, bytes, 0);
	case READV:
		return readv(fd, parts, 2);
	case PREADV2:
		return preadv2(fd, parts, 2, 0, 0);
	case WRITE:
		return write(fd, data, bytes);
	case PWRITE:
		return pwrite(fd, data, bytes, 0);
	case WRITEV:
		return writev(fd, parts, 2);
	default:
		return pwritev2(fd, parts, 2, 0, 0);
	}
}

static void by_call(const char *name, enum way way, int flags, long bytes)
{
	int is_write = way >= WRITE;
	int fd = opened(name, (is_write ? O_WRONLY : O_RDONLY) | flags, is_write ? 0 : bytes);

	if (preparing)
		return;
	check(moved_by(way, fd, bytes), bytes, name);
	say(name, is_write ? "write" : "read", "1", bytes);
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
	say(name, is_write ? "write" : "read", "1", bytes);
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
	say(name, op == IORING_OP_FSYNC ? "sync" : is_write ? "write" : "read", "1",
	    op == IORING_OP_FSYNC ? 0 : bytes);
}

/* ---- a file of a file system in user space, whose server is a child of this program ---- */

#define FUSE_BYTES 10017

static struct fuse_attr fuse_attr_of(uint64_t node)
{
	struct fuse_attr attr = {
		.ino = node,
		.size = node == FUSE_ROOT_ID ? 0 : FUSE_BYTES,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0600,
		.nlink = 1,
	};

	return attr;
}

struct fuse_answer {
	struct fuse_out_header head;
	union {
		struct fuse_init_out init;
		struct fuse_entry_out entry;
		struct fuse_attr_out attr;
		struct fuse_open_out open;
		struct fuse_write_out write;
		char data[DATA];
	};
};

/* Sets the answer, which is 0 before, and returns the bytes behind its head. */
static size_t fuse_serve_one(const struct fuse_in_header *asked, struct fuse_answer *answer)
{
	const struct fuse_read_in *piece = (const void *)(asked + 1); /* fuse_write_in begins alike */

	switch (asked->opcode) {
	case FUSE_INIT:
		answer->init.major = FUSE_KERNEL_VERSION;
		answer->init.minor = FUSE_KERNEL_MINOR_VERSION;
		answer->init.max_write = DATA;
		return sizeof(answer->init);
	case FUSE_LOOKUP: /* each name is that of the one file */
		answer->entry.nodeid = FUSE_ROOT_ID + 1;
		answer->entry.attr = fuse_attr_of(FUSE_ROOT_ID + 1);
		return sizeof(answer->entry);
	case FUSE_GETATTR:
		answer->attr.attr = fuse_attr_of(asked->nodeid);
		return sizeof(answer->attr);
	case FUSE_OPEN:
		return sizeof(answer->open);
	case FUSE_READ:
		return piece->offset >= FUSE_BYTES ?		     0 :
		       piece->offset + piece->size > FUSE_BYTES ? FUSE_BYTES - piece->offset :
								     piece->size;
	case FUSE_WRITE:
		answer->write.size = piece->size;
		return sizeof(answer->write);
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_RELEASE:
		return 0;
	default:
		answer->head.error = -ENOSYS;
		return 0;
	}
}

/* Ends when the file system is unmounted. */
static void fuse_serve(int device)
{
	static struct fuse_answer answer;
	static char asked[2 * DATA] __attribute__((aligned(8)));
	const struct fuse_in_header *head = (const void *)asked;

	while (read(device, asked, sizeof(asked)) > 0) {
		if (head->opcode == FUSE_FORGET || head->opcode == FUSE_BATCH_FORGET)
			continue; /* nothing is answered */
		memset(&answer, 0, sizeof(answer));
		answer.head.unique = head->unique;
		answer.head.len = sizeof(answer.head) + fuse_serve_one(head, &answer);
		check(write(device, &answer, answer.head.len), answer.head.len, "answer to FUSE");
	}
	_exit(0);
}

static void fuse(const char *folder, const char *file, long bytes)
{
	char options[100];
	int device, fd;

	if (preparing) {
		check(mkdir(folder, 0700), 0, folder);
		return;
	}
	device = opened("/dev/fuse", O_RDWR, 0);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	check(mount("fuse", folder, "fuse", 0, options), 0, "mount of FUSE");
	if (!fork())
		fuse_serve(device);
	close(device);
	fd = opened(file, O_RDWR, 0);
	check(pread(fd, data, DATA, 0), FUSE_BYTES, "read from FUSE");
	check(pwrite(fd, data, bytes, 0), bytes, "write to FUSE");
	check(fsync(fd), 0, "fsync to FUSE");
	close(fd);
	check(umount(folder), 0, "umount of FUSE");
	wait(NULL);
	file = strrchr(file, '/') + 1;
	say(file, "read", "1", FUSE_BYTES);
	say(file, "write", "1", bytes);
	say(file, "sync", "1", 0);
}

int main(int argc, char **argv)
{
	preparing = argc > 1 && !strcmp(argv[1], "prepare");
	data = mmap(NULL, DATA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(data, 'x', DATA);
	by_call("read", READ, 0, 10001);
	by_call("pread", PREAD, 0, 10002);
	by_call("readv", READV, 0, 10003);
	by_call("preadv2", PREADV2, 0, 10004);
	by_call("direct", READ, O_DIRECT, 12288);
	by_call("write", WRITE, 0, 20001);
	by_call("pwrite", PWRITE, 0, 20002);
	by_call("writev", WRITEV, 0, 20003);
	by_call("pwritev2", PWRITEV2, 0, 20004);
	by_call("direct.out", WRITE, O_DIRECT, 24576);
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
	fuse("fuse", "fuse/fuse.file", 20017);
	return 0;
}
