/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control_fuzz: random calls on /dev/fkt by several processes with threads (main.c describes the
 * usage). main.c supervises, worker.c contains the life of a process, values.c generates numbers and
 * pointers, and ioctls.c, memory.c and files.c make the calls.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKERS 4
#define THREADS 2
#define SLOTS 6 /* device files open in a process; the first SHARED are inherited by all */
#define SHARED 2
#define OUTPUTS 6 /* files that a process may pass as out_fd, or splice to */
#define MAPS 4
#define TAKEN 256
#define KINDS_MAX 80
#define PATHS_MAX 8

/* The call that a thread is executing, for the supervisor. */
struct doing {
	_Atomic uint64_t since_ns; /* 0: between two calls */
	_Atomic pid_t tid;
	_Atomic unsigned int kind;
};

struct count {
	_Atomic uint64_t calls, good;
};

/* In memory that all processes share. */
struct shared {
	_Atomic bool stop;
	_Atomic pid_t owner; /* pid of the process that owns the recording, as far as known */
	struct count kinds[KINDS_MAX];
	struct doing doing[WORKERS * THREADS];
};

/* State of a process; its threads change it without locks, on purpose. */
struct world {
	const struct options *options;
	struct shared *shared;
	int device[SLOTS];
	int starter; /* slot that last started a recording */
	bool owns; /* that recording has not been freed yet */
	int out[OUTPUTS];
	int pipe[2];
	int socket[2];
	int epoll;
	char *arena; /* MAPS areas of ARENA_BYTES each */
	size_t mapped[MAPS]; /* bytes mapped there; 0: none */
	char *edge; /* one page, followed by unmapped memory */
	char *faulty; /* userfaultfd memory whose faults are never served, or NULL */
	uint32_t taken[TAKEN];
	uint32_t n_taken;
};

struct thread {
	struct world *w;
	struct doing *doing;
	uint64_t random;
	uint64_t calls; /* calls left to make */
};

struct options {
	uint64_t seed;
	double seconds;
	uint64_t calls;
	double hang_s; /* a call that takes longer (s) counts as hung */
	int workers, threads;
	bool hotplug;
	const char *paths[PATHS_MAX]; /* output files and devices */
	int n_paths;
};

struct kind {
	const char *name;
	unsigned int weight;
	unsigned int owner_weight; /* weight in the process that owns the recording */
	long (*call)(struct thread *t); /* returns a negative value if the call failed */
};

#define ARENA_BYTES ((size_t)64 << 20)

extern const struct kind ioctl_kinds[], memory_kinds[], file_kinds[];

/* values.c */
uint64_t next_random(uint64_t *state);
uint64_t rnd(struct thread *t);
uint64_t below(struct thread *t, uint64_t limit);
bool chance(struct thread *t, unsigned int percent);
uint64_t number(struct thread *t);
uint64_t small(struct thread *t, uint64_t limit);
void *place(struct thread *t, const void *bytes, size_t n);
int device(struct thread *t);
int output(struct thread *t);
int any_fd(struct thread *t);
void lost_owner(struct world *w);

/* worker.c */
void work(const struct options *options, struct shared *shared, int index, uint64_t seed, const int *inherited)
	__attribute__((noreturn));
const char *kind_name(unsigned int index);
unsigned int count_kinds(void);
bool guarded(struct thread *t, void (*access)(volatile char *at), volatile char *at);

/* files.c */
void open_output(struct thread *t, int slot);
void open_pipe(struct world *w);

#endif
