/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * steps room|full: writes an event once for each of the writer's instructions, and is interrupted there by a handler that
 * has an event too. full: while fkt_record, its parent, is stopped and the ring is full. Prints how many fkt_user_probe()
 * were called.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* REG_EFL */
#endif
#include <fkt/user.h>

#include <sys/wait.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100

static volatile long called, step, wanted;

static void probe(long i)
{
	fkt_user_probe3(7, i, -i, 3 * i);
}

static void on_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	if (++step != wanted)
		return;
	called++;
	probe(called);
}

static inline __attribute__((always_inline)) void set_steps(int on)
{
	unsigned long flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags & ~(unsigned long)TRAP_FLAG);
}

/* Returns whether the handler's event came before the writer's had ended. */
static int interrupted_at(long n)
{
	wanted = n;
	step = 0;
	called++;
	set_steps(1);
	probe(called);
	set_steps(0);
	return step >= n;
}

static void fill_ring(void)
{
	const unsigned long before = fkt_user_self->ring->lost;

	while (fkt_user_self->ring->lost == before) {
		called++;
		probe(called);
	}
}

int main(int argc, char **argv)
{
	const int is_full = argc > 1 && !strcmp(argv[1], "full");
	struct sigaction action;
	long n = 1;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_step;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &action, NULL);
	called = 1;
	probe(1);
	if (is_full) {
		kill(getppid(), SIGSTOP);
		usleep(20000);
		fill_ring();
	}
	while (interrupted_at(n))
		n++;
	if (is_full)
		kill(getppid(), SIGCONT);
	/* The loss is told by the next event. */
	usleep(50000);
	called++;
	probe(called);
	printf("%ld 0\n", called);
	fprintf(stderr, "%ld instructions\n", n - 1);
	return 0;
}
