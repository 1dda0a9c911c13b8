/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process whose memory map stays locked for as long as the test likes. A file system in user space (FUSE) does not
 * answer a read of a file, so a page of it stays locked; mmap() of the same file, opened for direct access, waits for
 * that page, with the map locked. While the kernel arms a place in a program that such a process runs, no process can
 * fork: what a test needs, it must have forked before.
 */
#ifndef HELD_MAP_H
#define HELD_MAP_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/fuse.h>

#define HELD_FOLDER "held"
#define HELD_FILE HELD_FOLDER "/file"
#define HELD_BYTES 4096
#define HELD_NODE 2

struct held_map {
	pid_t server, reader, mapper;
};

static inline void held_must(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
}

static inline void held_answer(int fuse, uint64_t unique, int error, const void *data, size_t bytes)
{
	char reply[512];
	const struct fuse_out_header head = { .len = sizeof(head) + bytes, .error = error, .unique = unique };

	memcpy(reply, &head, sizeof(head));
	if (bytes)
		memcpy(reply + sizeof(head), data, bytes);
	if (write(fuse, reply, head.len) < 0 && errno != ENOENT)
		_exit(1);
}

static inline struct fuse_attr held_attr(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .nlink = 1, .blksize = HELD_BYTES, .size = node == HELD_NODE ? HELD_BYTES : 0,
		.mode = node == HELD_NODE ? S_IFREG | 0444 : S_IFDIR | 0555,
	};
}

/* The server tells that it has been asked for a page. */
static int held_asked[2];

/* Serves the file system, but no read. The first open uses the page cache, the next ones do not. */
static inline void held_serve(int fuse)
{
	static char request[1 << 17] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (void *)request;
	unsigned int opens = 0;

	while (read(fuse, request, sizeof(request)) > 0) {
		const struct fuse_init_out init = {
			.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096, .max_background = 16,
		};
		const struct fuse_entry_out entry = {
			.nodeid = HELD_NODE, .entry_valid = 1000, .attr_valid = 1000, .attr = held_attr(HELD_NODE),
		};
		const struct fuse_attr_out attr = { .attr_valid = 1000, .attr = held_attr(in->nodeid) };
		struct fuse_open_out open = { 0 };

		switch (in->opcode) {
		case FUSE_INIT:
			held_answer(fuse, in->unique, 0, &init, sizeof(init));
			break;
		case FUSE_LOOKUP:
			held_answer(fuse, in->unique, 0, &entry, sizeof(entry));
			break;
		case FUSE_GETATTR:
			held_answer(fuse, in->unique, 0, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			open.open_flags = opens++ ? FOPEN_DIRECT_IO | FOPEN_KEEP_CACHE : 0;
			held_answer(fuse, in->unique, 0, &open, sizeof(open));
			break;
		case FUSE_READ:
			held_must(write(held_asked[1], "r", 1), "write");
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
			break;
		case FUSE_FLUSH:
		case FUSE_RELEASE:
			held_answer(fuse, in->unique, 0, NULL, 0);
			break;
		default:
			held_answer(fuse, in->unique, -ENOSYS, NULL, 0);
		}
	}
}

/* Returns when the process waits in the kernel and no signal would end that. */
static inline void held_wait_for(pid_t pid)
{
	char name[64], line[512] = "";
	int tries;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	for (tries = 0; tries < 600; tries++) {
		FILE *stat = fopen(name, "r");
		const char *state = stat && fgets(line, sizeof(line), stat) ? strrchr(line, ')') : NULL;

		if (stat)
			fclose(stat);
		if (state && state[2] == 'D')
			return;
		usleep(50000);
	}
	fprintf(stderr, "a process does not wait as it should: %s\n", line);
	exit(1);
}

static inline pid_t held_fork(void (*run)(int fuse), int fuse)
{
	pid_t pid = fork();

	held_must(pid, "fork");
	if (pid)
		return pid;
	run(fuse);
	_exit(0);
}

static inline void held_read(int fuse)
{
	char first;

	close(fuse);
	held_must(read(open(HELD_FILE, O_RDONLY), &first, 1), HELD_FILE);
}

static inline void held_mmap(int fuse)
{
	close(fuse);
	mmap(NULL, HELD_BYTES, PROT_READ, MAP_PRIVATE, open(HELD_FILE, O_RDONLY), 0);
	pause();
}

/* Locks the map of a process that runs the caller's program. */
static inline struct held_map held_begin(void)
{
	struct held_map held;
	char options[80], asked;
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	held_must(fuse, "/dev/fuse");
	mkdir(HELD_FOLDER, 0755);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	held_must(mount("fuse", HELD_FOLDER, "fuse", MS_NOSUID | MS_NODEV, options), "mount");
	held_must(pipe(held_asked), "pipe");
	held.server = held_fork(held_serve, fuse);
	held.reader = held_fork(held_read, fuse);
	held_must(read(held_asked[0], &asked, 1), "read");
	held.mapper = held_fork(held_mmap, fuse);
	held_wait_for(held.mapper);
	close(held_asked[0]);
	close(held_asked[1]);
	close(fuse);
	return held;
}

/* Unlocks it. */
static inline void held_end(const struct held_map *held)
{
	int status;

	kill(held->server, SIGKILL);
	waitpid(held->server, &status, 0);
	waitpid(held->reader, &status, 0);
	kill(held->mapper, SIGKILL);
	waitpid(held->mapper, &status, 0);
	umount2(HELD_FOLDER, MNT_DETACH);
}

#endif /* HELD_MAP_H */
