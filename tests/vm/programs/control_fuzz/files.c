// SPDX-License-Identifier: GPL-2.0-only
/* Operations on the device as a file, on recordings' outputs, on pipes and sockets, and child processes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fkt/ioctl.h>

#include "fuzz.h"

/* ---- opening and closing ---- */

static long open_device(struct thread *t)
{
	int slot = below(t, SLOTS);
	int fd = open(FKT_DEVICE, (chance(t, 90) ? O_RDWR : O_RDONLY) | O_CLOEXEC | (chance(t, 80) ? O_NONBLOCK : 0));
	int old = t->w->device[slot];

	if (fd < 0)
		return -1;
	if (slot == t->w->starter)
		lost_owner(t->w);
	t->w->device[slot] = fd;
	if (old >= 0)
		close(old);
	return 0;
}

static long close_device(struct thread *t)
{
	int slot = below(t, SLOTS);
	int old = t->w->device[slot];

	if (slot == t->w->starter)
		lost_owner(t->w);
	t->w->device[slot] = -1;
	return close(old);
}

static long dup_device(struct thread *t)
{
	int from = below(t, SLOTS), to = below(t, SLOTS), old = t->w->device[to];

	if (from == to)
		return -1;
	t->w->device[to] = dup(t->w->device[from]);
	return old >= 0 ? close(old) : 0;
}

void open_output(struct thread *t, int slot)
{
	const struct options *o = t->w->options;
	int flags = chance(t, 90) ? O_RDWR : O_WRONLY;
	int old = t->w->out[slot];

	flags |= O_CREAT | O_CLOEXEC | (chance(t, 40) ? O_DIRECT : 0) | (chance(t, 5) ? O_APPEND : 0) |
		 (chance(t, 5) ? O_SYNC : 0) | (chance(t, 40) ? O_TRUNC : 0);
	if (!o->n_paths || chance(t, 15))
		t->w->out[slot] = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	else
		t->w->out[slot] = open(o->paths[below(t, o->n_paths)], flags, 0600);
	if (old >= 0)
		close(old);
}

static long reopen_output(struct thread *t)
{
	int slot = below(t, OUTPUTS);

	open_output(t, slot);
	return t->w->out[slot];
}

void open_pipe(struct world *w)
{
	int ends[2];
	int old[2] = { w->pipe[0], w->pipe[1] };

	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
		return;
	memcpy(w->pipe, ends, sizeof(ends));
	if (old[0] >= 0)
		close(old[0]);
	if (old[1] >= 0)
		close(old[1]);
}

static long new_pipe(struct thread *t)
{
	/* Sometimes close the reading end first: a writer then gets EPIPE. */
	if (chance(t, 30) && t->w->pipe[0] >= 0) {
		close(t->w->pipe[0]);
		t->w->pipe[0] = -1;
		return 0;
	}
	open_pipe(t->w);
	return 0;
}

/* ---- bytes ---- */

static long read_device(struct thread *t)
{
	static _Thread_local char bytes[1 << 16];
	size_t n = chance(t, 80) ? below(t, sizeof(bytes) + 1) : number(t) & (sizeof(bytes) - 1);
	char *at = place(t, bytes, 64);
	struct iovec parts[2] = { { bytes, n / 2 }, { at, n < 4096 ? n : 64 } };

	switch (below(t, 4)) {
	case 0:
		return readv(device(t), parts, 2);
	case 1:
		return pread(device(t), bytes, n, (off_t)number(t));
	case 2:
		return preadv2(device(t), parts, 1, -1, chance(t, 50) ? RWF_NOWAIT : 0);
	default:
		return read(device(t), at, 64);
	}
}

static long write_device(struct thread *t)
{
	return write(device(t), "control_fuzz", small(t, 12) % 13);
}

static long splice_out(struct thread *t)
{
	loff_t at = number(t);

	return splice(device(t), chance(t, 90) ? NULL : &at, t->w->pipe[1], NULL,
		      chance(t, 80) ? 1 + below(t, 1 << 17) : number(t), below(t, 16));
}

static long splice_on(struct thread *t)
{
	return splice(t->w->pipe[0], NULL, chance(t, 60) ? output(t) : t->w->socket[0], NULL,
		      1 + below(t, 1 << 16), SPLICE_F_NONBLOCK);
}

static long tee_pipe(struct thread *t)
{
	static _Thread_local int other[2] = { -1, -1 };
	long ret;

	if (other[0] < 0 && pipe2(other, O_NONBLOCK | O_CLOEXEC))
		return -1;
	ret = tee(t->w->pipe[0], other[1], 1 + below(t, 1 << 16), SPLICE_F_NONBLOCK);
	if (chance(t, 40)) {
		close(other[0]);
		close(other[1]);
		other[0] = other[1] = -1;
	}
	return ret;
}

static long send_on(struct thread *t)
{
	off_t at = chance(t, 90) ? 0 : (off_t)number(t);
	int to = chance(t, 50) ? output(t) : chance(t, 50) ? t->w->pipe[1] : t->w->socket[0];

	return sendfile(to, device(t), chance(t, 60) ? NULL : &at, chance(t, 80) ? below(t, 1 << 17) : number(t));
}

static long drain_pipe(struct thread *t)
{
	char bytes[8192];

	return read(t->w->pipe[0], bytes, 1 + below(t, sizeof(bytes)));
}

static long drain_socket(struct thread *t)
{
	char bytes[8192];

	return read(t->w->socket[1], bytes, sizeof(bytes));
}

static long seek(struct thread *t)
{
	return lseek(device(t), (off_t)number(t), below(t, 5));
}

/* ---- waiting ---- */

static long poll_device(struct thread *t)
{
	struct pollfd fds[2] = { { device(t), (short)rnd(t), 0 }, { device(t), POLLIN | POLLPRI, 0 } };

	return poll(fds, 1 + below(t, 2), chance(t, 90) ? 0 : (int)below(t, 10));
}

static long epoll_device(struct thread *t)
{
	struct epoll_event event = { .events = (uint32_t)rnd(t) & ~EPOLLWAKEUP };

	switch (below(t, 4)) {
	case 0:
		return epoll_ctl(t->w->epoll, EPOLL_CTL_ADD, device(t), &event);
	case 1:
		return epoll_ctl(t->w->epoll, EPOLL_CTL_DEL, device(t), &event);
	case 2:
		return epoll_ctl(t->w->epoll, EPOLL_CTL_MOD, device(t), &event);
	default:
		return epoll_wait(t->w->epoll, &event, 1, chance(t, 90) ? 0 : 5);
	}
}

static long set_flags(struct thread *t)
{
	switch (below(t, 3)) {
	case 0:
		return fcntl(device(t), F_SETFL, chance(t, 80) ? O_NONBLOCK : 0);
	case 1:
		return fcntl(t->w->pipe[1], F_SETPIPE_SZ, 4096 << below(t, 8));
	default:
		return fcntl(output(t), F_SETFL, chance(t, 50) ? O_DIRECT : O_APPEND);
	}
}

/* ---- outputs ---- */

static long change_output(struct thread *t)
{
	int fd = output(t);

	switch (below(t, 9)) {
	case 0:
		return ftruncate(fd, below(t, 1 << 20));
	case 1:
		return fallocate(fd, (int)small(t, 4), below(t, 1 << 20), 1 + below(t, 1 << 20));
	case 2:
		return fdatasync(fd);
	case 3:
		return sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	case 4:
		return posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	case 5:
		/* Only memfds can be sealed; for other files this fails. */
		return fcntl(fd, F_ADD_SEALS, chance(t, 10) ? F_SEAL_WRITE | F_SEAL_GROW : 0);
	case 6:
		return pwrite(fd, "control_fuzz", 12, below(t, 1 << 20));
	case 7:
		return lseek(fd, below(t, 1 << 20), SEEK_SET);
	default:
		return unlink(t->w->options->n_paths ? t->w->options->paths[0] : "");
	}
}

static long limit_file(struct thread *t)
{
	const struct rlimit limit = { chance(t, 50) ? below(t, 1 << 20) : RLIM_INFINITY, RLIM_INFINITY };

	return setrlimit(RLIMIT_FSIZE, &limit);
}

/* ---- children ---- */

/* Starts a child with all open files: it makes some calls, and ends in one of several ways. */
static void child(struct thread *t)
{
	char *const argv[] = { "control_fuzz", "--nothing", NULL };
	char *const envp[] = { NULL };
	struct fkt_status status;
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = -1, .mask = 1, .recording = 1,
	};
	unsigned int i;

	for (i = below(t, 20); i > 0; i--)
		ioctl(device(t), FKT_STATUS, &status);
	if (chance(t, 30))
		ioctl(device(t), FKT_JOIN);
	if (chance(t, 20))
		ioctl(device(t), FKT_START, &s);
	if (chance(t, 20))
		kill(getpid(), chance(t, 50) ? SIGKILL : SIGTERM);
	if (chance(t, 40))
		execve("/proc/self/exe", argv, envp);
	_exit(0);
}

static long fork_child(struct thread *t)
{
	int pid_namespace = chance(t, 10) ? unshare(CLONE_NEWPID) : -1;
	pid_t pid = fork();

	(void)pid_namespace;
	if (!pid) {
		alarm(20);
		child(t);
	}
	if (pid < 0)
		return -1;
	/* The thread's timer may interrupt the wait: the supervisor then reaps the child. */
	if (chance(t, 50))
		kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0);
}

const struct kind file_kinds[] = {
	{ "open", 8, 3, open_device },
	{ "close", 6, 1, close_device },
	{ "dup", 4, 2, dup_device },
	{ "read", 20, 50, read_device },
	{ "write", 3, 2, write_device },
	{ "splice", 20, 60, splice_out },
	{ "splice_on", 15, 40, splice_on },
	{ "tee", 8, 15, tee_pipe },
	{ "sendfile", 15, 30, send_on },
	{ "drain_pipe", 15, 40, drain_pipe },
	{ "drain_socket", 8, 15, drain_socket },
	{ "pipe", 3, 4, new_pipe },
	{ "lseek", 5, 4, seek },
	{ "poll", 30, 50, poll_device },
	{ "epoll", 15, 20, epoll_device },
	{ "fcntl", 6, 4, set_flags },
	{ "output", 10, 2, reopen_output },
	{ "change_output", 12, 10, change_output },
	{ "setrlimit", 1, 1, limit_file },
	{ "fork", 2, 2, fork_child },
	{ 0 },
};
