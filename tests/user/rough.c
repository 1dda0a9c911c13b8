/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rough HOW: events under what is rough for a tracer. Prints how many fkt_user_probe() were called, and how many of these
 * may have been left before they had an event.
 */
#include <fkt/user.h>

#include <setjmp.h>
#include <sys/wait.h>

static volatile long written, handled; /* by the program, by its handler */
static sigjmp_buf out;
static volatile int may_jump;

/* a1 and a2 follow from a0: a torn event shows. */
static void probe(long i)
{
	fkt_user_probe3(7, i, -i, 3 * i);
	written++;
}

static void on_signal(int number)
{
	(void)number;
	fkt_user_probe1(8, 1);
	handled++;
	if (may_jump)
		siglongjmp(out, 1);
}

static void begin_signals(void)
{
	const struct itimerval often = {{0, 40}, {0, 40}};
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART | SA_NODEFER;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void end_signals(void)
{
	const struct itimerval never = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
}

/* By the clock, because a sleep that is interrupted all the time may never end. */
static void pause_2ms(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		usleep(100);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 2000000);
}

/* So few at a time that no ring is full. */
static void some(long n)
{
	long i;

	for (i = 1; i <= n; i++) {
		probe(i);
		if (i % 2000 == 0)
			pause_2ms();
	}
}

static void *one_thread(void *argument)
{
	long i;

	(void)argument;
	for (i = 1; i <= 50; i++)
		fkt_user_probe3(7, i, -i, 3 * i);
	return NULL;
}

static void threads(void)
{
	pthread_t t[20];
	int round, i;

	for (round = 0; round < 10; round++) {
		for (i = 0; i < 20; i++)
			if (pthread_create(&t[i], NULL, one_thread, NULL))
				exit(1);
		for (i = 0; i < 20; i++)
			pthread_join(t[i], NULL);
	}
	written += 10 * 20 * 50;
}

static void forks(void)
{
	int i;

	for (i = 0; i < 60; i++) {
		probe(i);
		fflush(stdout);
		if (!fork()) {
			written = 0;
			probe(1);
			if (i % 3 == 0 && !fork()) {
				probe(2);
				_exit(0);
			}
			wait(NULL);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	written += 60 + 20;
}

/* Handlers that never return: the event that each interrupts may be unfinished, the others are there. */
static void jumps(void)
{
	volatile long i = 0;

	begin_signals();
	while (i < 200000) {
		if (!sigsetjmp(out, 1)) {
			may_jump = 1;
			for (;;) {
				i++;
				if (i >= 200000)
					break;
				written++;
				fkt_user_probe3(7, i, -i, 3 * i);
			}
		}
		may_jump = 0;
	}
	end_signals();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long i;

	if (!strcmp(how, "handlers")) {
		begin_signals();
		some(100000);
		end_signals();
	} else if (!strcmp(how, "forks")) {
		forks();
	} else if (!strcmp(how, "threads")) {
		threads();
	} else if (!strcmp(how, "exec")) {
		some(100);
		printf("%ld 0\n", written);
		fflush(stdout);
		execl(argv[0], argv[0], "threads", (char *)NULL);
		return 1;
	} else if (!strcmp(how, "jumps")) {
		jumps();
	} else if (!strcmp(how, "killed")) {
		some(20000);
		for (i = 20001; i < 20000 + getpid() % 997; i++)
			probe(i);
		kill(getpid(), SIGKILL);
	} else if (!strcmp(how, "flood")) {
		for (i = 1; i <= 3000000; i++)
			probe(i);
	} else {
		return 2;
	}
	printf("%ld %ld\n", written + handled, strcmp(how, "jumps") ? 0 : handled);
	return 0;
}
