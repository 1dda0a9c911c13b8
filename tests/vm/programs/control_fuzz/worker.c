// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of one process: opens files, makes a number of calls in each of its threads, and ends. A
 * timer of each thread interrupts waiting calls, so a call that does not return is one that no signal
 * ends.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <fkt/ioctl.h>

#include "fuzz.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
#define TIMER_MS 20

static const struct kind *const tables[] = { ioctl_kinds, memory_kinds, file_kinds };
#define TABLES (sizeof(tables) / sizeof(tables[0]))

static const struct kind *kind_at(unsigned int index)
{
	unsigned int table, i;

	for (table = 0; table < TABLES; table++)
		for (i = 0; tables[table][i].name; i++)
			if (!index--)
				return &tables[table][i];
	return NULL;
}

const char *kind_name(unsigned int index)
{
	return kind_at(index)->name;
}

unsigned int count_kinds(void)
{
	unsigned int n = 0;

	while (kind_at(n))
		n++;
	return n;
}

static unsigned int weight_of(const struct kind *kind, bool owns)
{
	return owns ? kind->owner_weight : kind->weight;
}

static unsigned int pick_kind(struct thread *t)
{
	bool owns = t->w->owns;
	unsigned int i, at, sum = 0;

	for (i = 0; kind_at(i); i++)
		sum += weight_of(kind_at(i), owns);
	at = below(t, sum);
	for (i = 0; at >= weight_of(kind_at(i), owns); i++)
		at -= weight_of(kind_at(i), owns);
	return i;
}

/* ---- signals ---- */

static _Thread_local sigjmp_buf faulted;
static _Thread_local volatile sig_atomic_t guarding;

static void on_fault(int sig)
{
	if (guarding)
		siglongjmp(faulted, sig);
	/* Outside a guarded access: the process dies of it, which the supervisor counts. */
	signal(sig, SIG_DFL);
}

/* Returns whether the access raises no signal. */
bool guarded(struct thread *t, void (*access)(volatile char *at), volatile char *at)
{
	(void)t;
	if (sigsetjmp(faulted, 1)) {
		guarding = 0;
		return false;
	}
	guarding = 1;
	access(at);
	guarding = 0;
	return true;
}

static void on_timer(int sig)
{
	(void)sig;
}

static void set_signals(void)
{
	struct sigaction timer = { .sa_handler = on_timer }; /* no SA_RESTART */

	sigaction(SIGALRM, &timer, NULL);
	signal(SIGBUS, on_fault);
	signal(SIGSEGV, on_fault);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static void start_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	const struct itimerspec every = {
		.it_value.tv_nsec = TIMER_MS * 1000000L, .it_interval.tv_nsec = TIMER_MS * 1000000L,
	};
	timer_t timer;

	event.sigev_notify_thread_id = syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		_exit(3);
}

/* ---- calls ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Makes events to record, besides those of the calls themselves. */
static void make_events(struct thread *t)
{
	unsigned int i;

	for (i = below(t, 1000); i > 0; i--)
		syscall(SYS_getppid);
	if (chance(t, 10))
		sched_yield();
}

static void one_call(struct thread *t)
{
	unsigned int index = pick_kind(t);
	struct count *count = &t->w->shared->kinds[index];
	long ret;

	atomic_store(&t->doing->kind, index);
	atomic_store(&t->doing->since_ns, now_ns());
	ret = kind_at(index)->call(t);
	atomic_store(&t->doing->since_ns, 0);
	atomic_fetch_add_explicit(&count->calls, 1, memory_order_relaxed);
	if (ret >= 0)
		atomic_fetch_add_explicit(&count->good, 1, memory_order_relaxed);
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;

	atomic_store(&t->doing->tid, (pid_t)syscall(SYS_gettid));
	start_timer();
	while (t->calls-- > 0 && !atomic_load(&t->w->shared->stop)) {
		one_call(t);
		if (chance(t, 10))
			make_events(t);
	}
	atomic_store(&t->doing->tid, 0);
	return NULL;
}

/* ---- the process's state ---- */

/* Returns memory whose faults are never served: a call that touches it waits until a signal comes. */
static char *faulty_memory(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	char *at;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return NULL;
	at = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (unsigned long)at;
	range.range.len = 4 * 4096;
	if (at == MAP_FAILED || ioctl(fd, UFFDIO_REGISTER, &range))
		return NULL;
	return at;
}

static void make_world(struct world *w, struct thread *t, const int *inherited)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		w->device[i] = i < SHARED ? inherited[i] :
			       open(FKT_DEVICE, O_RDWR | O_CLOEXEC | (i < SLOTS - 1 ? O_NONBLOCK : 0));
	w->pipe[0] = w->pipe[1] = -1;
	open_pipe(w);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, w->socket))
		w->socket[0] = w->socket[1] = -1;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < OUTPUTS; i++) {
		w->out[i] = -1;
		open_output(t, i);
	}
	w->arena = mmap(NULL, MAPS * ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	w->edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->arena == MAP_FAILED || w->edge == MAP_FAILED || munmap(w->edge + 4096, 4096))
		_exit(3);
	w->faulty = faulty_memory();
}

/* Runs process number `index` with this seed: a few thousand calls. */
void work(const struct options *options, struct shared *shared, int index, uint64_t seed, const int *inherited)
{
	static struct world w;
	struct thread threads[THREADS];
	pthread_t ids[THREADS];
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	set_signals();
	w.options = options;
	w.shared = shared;
	for (i = 0; i < options->threads; i++) {
		threads[i] = (struct thread){
			.w = &w, .doing = &shared->doing[index * THREADS + i], .random = seed + (uint64_t)i * 0x1234567,
		};
		threads[i].calls = 100 + below(&threads[i], 5000);
	}
	make_world(&w, &threads[0], inherited);
	for (i = 1; i < options->threads; i++)
		if (pthread_create(&ids[i], NULL, run_thread, &threads[i]))
			_exit(3);
	run_thread(&threads[0]);
	for (i = 1; i < options->threads; i++)
		pthread_join(ids[i], NULL);
	_exit(0);
}
