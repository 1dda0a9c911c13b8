/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rare operations of a program's events: a thread gets a ring from the recorder, and gives it back. Part of
 * fkt/user.h, and included there.
 */
#ifndef FKT_USER_ATTACH_H
#define FKT_USER_ATTACH_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <linux/types.h>

/* A program compiled with -finstrument-functions does not see functions of these headers among its own. */
#define FKT_USER_UNSEEN __attribute__((no_instrument_function))
#ifndef FKT_WIRE_H
FKT_USER_UNSEEN static inline __u64 fkt_word(__u64 clock, __u32 id, __u32 arg);
#endif

#include <fkt/user_ring.h>

/* With -std=c11, the first header of the C library that is included decides what its headers declare. */
#if defined(__GLIBC__) && !defined(__USE_MISC)
#error "fkt/user.h: include it before other headers, or compile with -std=gnu11"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define FKT_USER_INLINE static inline __attribute__((always_inline, unused)) FKT_USER_UNSEEN
/* Rare operations stay out of the callers' code. */
#define FKT_USER_COLD static __attribute__((noinline, cold, unused)) FKT_USER_UNSEEN
#ifndef FKT_USER_SHARED
/* One in the program, though each of its files and libraries defines it. */
#define FKT_USER_SHARED __attribute__((weak, visibility("default")))
#endif
#ifndef FKT_USER_CONSTRUCTOR
#define FKT_USER_CONSTRUCTOR __attribute__((constructor(101), unused))
#endif
#ifndef FKT_USER_ATTACH_AS
#define FKT_USER_ATTACH_AS FKT_USER_ATTACH
#endif
#define FKT_USER_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define FKT_USER_BARRIER() __asm__ volatile("" ::: "memory")

/*
 * A thread's state of its ring. It lies in a page that is zeros in a child process: there, `words` says that there
 * is no ring.
 */
struct fkt_user_thread {
	__u64 *words; /* NULL: there is no ring */
	struct fkt_user_ring *ring;
	__u64 mask; /* number of words - 1 */
	__u64 limit; /* as far as known, there is room up to this value of `head` */
	__u64 last; /* clock of the last event */
	__u32 clock; /* enum fkt_user_clock */
	__u32 untold; /* events were lost since the last LOST word */
	__u32 off; /* there will be no ring */
	__u32 map_words;
	__u64 clock_offset; /* fkt_user_ring */
};

/* Of a thread without a ring. */
FKT_USER_SHARED struct fkt_user_thread fkt_user_none;
FKT_USER_SHARED __thread struct fkt_user_thread *fkt_user_self;
FKT_USER_SHARED int fkt_user_on; /* fkt_record runs this program */
FKT_USER_SHARED pthread_key_t fkt_user_key;

/* Returns whether the events of this program are recorded. */
FKT_USER_INLINE int fkt_user_recorded(void)
{
	return FKT_USER_UNLIKELY(__atomic_load_n(&fkt_user_on, __ATOMIC_RELAXED));
}

/* ---- the clock ---- */

/* Reads a clock (enum fkt_user_clock). */
FKT_USER_INLINE __u64 fkt_user_read(__u32 clock)
{
	struct timespec now;

#if defined(__x86_64__)
	if (__builtin_expect(clock == FKT_USER_TSC, 1))
		return __builtin_ia32_rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * 1000000000 + (__u64)now.tv_nsec;
}

FKT_USER_INLINE __u64 fkt_user_clock(const struct fkt_user_thread *t)
{
	return fkt_user_read(t->clock) + t->clock_offset;
}

/* ---- asking the recorder ---- */

/* The name of the recorder's sockets; NULL: there is none, or the program has more rights than its user. */
FKT_USER_COLD const char *fkt_user_recorder(void)
{
	return getauxval(AT_SECURE) ? NULL : getenv(FKT_USER_VARIABLE);
}

/* Whether this process is in a user namespace of its own, which may have no number for the recorder's user. */
FKT_USER_COLD int fkt_user_is_apart(void)
{
	const int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	char text[64] = "";

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	/* The first namespace has them all. */
	return text[0] && !strstr(text, "4294967295");
}

/*
 * Whether the recorder is at the other end: in another namespace, or when it has ended, someone else could have its
 * socket's name.
 */
FKT_USER_COLD int fkt_user_trusts(int sock)
{
	struct {
		pid_t pid;
		uid_t uid;
		gid_t gid;
	} peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return 0;
	return !peer.uid || peer.uid == geteuid() || (peer.uid == 65534 && fkt_user_is_apart());
}

/* Returns a connection to the recorder, or -1. name: of its socket; prefix: 1: in the abstract namespace; 0: a path. */
FKT_USER_COLD int fkt_user_connect(const char *name, unsigned int prefix)
{
	const struct timeval limit = {5, 0};
	struct sockaddr_un to;
	int sock;

	if (strlen(name) >= FKT_USER_NAME_BYTES - 1)
		return -1;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -1;
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	memset(&to, 0, sizeof(to));
	to.sun_family = AF_UNIX;
	memcpy(to.sun_path + prefix, name, strlen(name));
	if (!connect(sock, (const struct sockaddr *)&to,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + prefix + strlen(name))) &&
	    fkt_user_trusts(sock))
		return sock;
	close(sock);
	return -1;
}

/* Sends a request; returns 0 if the answer is good. fd: gets the descriptor that comes with it, or -1. */
FKT_USER_COLD int fkt_user_ask(const struct fkt_user_ask *ask, size_t bytes, struct fkt_user_answer *answer, int *fd)
{
	const struct fkt_user_thread *t = fkt_user_self;
	const char *name = fkt_user_recorder();
	int sock = name ? fkt_user_connect(name, 1) : -1;
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part;
	struct msghdr message;
	ssize_t got = -1;

	*fd = -1;
	if (name && sock < 0)
		sock = fkt_user_connect(name, 0);
	if (sock < 0) {
		if (t && t->words)
			t->ring->unasked++;
		return -1;
	}
	memset(&message, 0, sizeof(message));
	part.iov_base = answer;
	part.iov_len = sizeof(*answer);
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = control.bytes;
	message.msg_controllen = sizeof(control.bytes);
	if (send(sock, ask, bytes, MSG_NOSIGNAL) == (ssize_t)bytes)
		got = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
	if (got > 0) {
		const struct cmsghdr *c = CMSG_FIRSTHDR(&message);

		if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	}
	close(sock);
	return got == (ssize_t)sizeof(*answer) && answer->magic == FKT_USER_MAGIC && answer->good ? 0 : -1;
}

FKT_USER_INLINE size_t fkt_user_ring_bytes(__u64 words)
{
	return FKT_USER_HEADER_BYTES + 2 * words * sizeof(__u64);
}

/* Maps the ring, its words twice in a row, so that an event is in one piece wherever it begins. */
FKT_USER_COLD struct fkt_user_ring *fkt_user_map(int fd)
{
	const int how = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED;
	struct fkt_user_ring *head;
	size_t bytes, whole;
	char *base;
	__u64 words;

	head = (struct fkt_user_ring *)mmap(NULL, FKT_USER_HEADER_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED)
		return NULL;
	words = head->magic == FKT_USER_MAGIC && head->version == FKT_USER_VERSION ? head->words : 0;
	munmap(head, FKT_USER_HEADER_BYTES);
	if (!words)
		return NULL;
	bytes = words * sizeof(__u64);
	whole = fkt_user_ring_bytes(words);
	base = (char *)mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	if (mmap(base, FKT_USER_HEADER_BYTES + bytes, how, flags, fd, 0) == MAP_FAILED ||
	    mmap(base + FKT_USER_HEADER_BYTES + bytes, bytes, how, flags, fd, FKT_USER_HEADER_BYTES) == MAP_FAILED ||
	    madvise(base, whole, MADV_DONTFORK)) {
		munmap(base, whole);
		return NULL;
	}
	return (struct fkt_user_ring *)base;
}

/* The thread ends, or its ring is of no use any more. Runs as the destructor of the thread's key, too. */
FKT_USER_COLD void fkt_user_detach(void *thread)
{
	struct fkt_user_thread *t = (struct fkt_user_thread *)thread;
	struct fkt_user_ring *ring = t->words ? t->ring : NULL;
	const __u64 words = t->mask + 1;

	if (ring) {
		/* Else it is a child's that has ended (user/func/vforked.h). */
		if (fkt_user_self == t)
			prctl(PR_GET_NAME, ring->name);
		ring->ended_at = fkt_user_clock(t);
	}
	if (fkt_user_self == t)
		fkt_user_self = NULL;
	t->words = NULL;
	FKT_USER_BARRIER();
	if (ring) {
		__atomic_store_n(&ring->ended, 1, __ATOMIC_RELEASE);
		munmap(ring, fkt_user_ring_bytes(words));
	}
	munmap(t, FKT_USER_HEADER_BYTES);
}

/* Returns the thread's page, made of zeros if it is new; NULL: there is no memory. */
FKT_USER_COLD struct fkt_user_thread *fkt_user_page(void)
{
	struct fkt_user_thread *t = fkt_user_self;

	if (t)
		return t;
	t = (struct fkt_user_thread *)mmap(NULL, FKT_USER_HEADER_BYTES, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED)
		return NULL;
	if (madvise(t, FKT_USER_HEADER_BYTES, MADV_WIPEONFORK) || pthread_setspecific(fkt_user_key, t)) {
		munmap(t, FKT_USER_HEADER_BYTES);
		return NULL;
	}
	fkt_user_self = t;
	return t;
}

/* Gets a ring for this thread. Returns NULL if there is none. errno stays as it was. */
FKT_USER_COLD struct fkt_user_thread *fkt_user_attach(void)
{
	const int error = errno;
	struct fkt_user_answer answer;
	struct fkt_user_ask ask;
	struct fkt_user_thread *t;
	sigset_t all, before;
	int fd = -1;

	/* Signals are blocked: a handler must not run in the middle of this. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	t = fkt_user_page();
	if (t && !t->off && !t->words) {
		memset(&ask, 0, FKT_USER_ASK_BYTES);
		ask.magic = FKT_USER_MAGIC;
		ask.version = FKT_USER_VERSION;
		ask.request = FKT_USER_ATTACH_AS;
		ask.tid = (__u32)syscall(SYS_gettid);
		t->ring = NULL;
		if (!fkt_user_ask(&ask, FKT_USER_ASK_BYTES, &answer, &fd) && fd >= 0)
			t->ring = fkt_user_map(fd);
		if (fd >= 0)
			close(fd);
		t->off = !t->ring;
		if (t->ring) {
			t->mask = t->ring->words - 1;
			t->limit = t->ring->words;
			t->clock = t->ring->clock;
			t->clock_offset = t->ring->clock_offset;
			FKT_USER_BARRIER();
			t->words = (__u64 *)((char *)t->ring + FKT_USER_HEADER_BYTES);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return t && t->words ? t : NULL;
}

FKT_USER_CONSTRUCTOR FKT_USER_UNSEEN static void fkt_user_begin(void)
{
	if (fkt_user_on || !fkt_user_recorder() || pthread_key_create(&fkt_user_key, fkt_user_detach))
		return;
	fkt_user_on = 1;
}

#ifdef __cplusplus
}
#endif

#endif /* FKT_USER_ATTACH_H */
