// SPDX-License-Identifier: GPL-2.0-only
/*
 * call_each: makes the system calls of stdin, one a line: its number and six words in decimal, "path" for the address of
 * PATH. Each call is made by a process of its own, which does nothing else, not even by the C library, whose state the
 * call may have destroyed, and is killed where the call does not return.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH "/no/such/file"

static long call(long nr, const unsigned long *a)
{
	register unsigned long r10 asm("r10") = a[3], r8 asm("r8") = a[4], r9 asm("r9") = a[5];
	long ret;

	asm volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return ret;
}

static volatile pid_t child;

static void give_up(int sig)
{
	(void)sig;
	kill(child, SIGKILL);
}

int main(void)
{
	static const unsigned long none[6];
	unsigned long words[6];
	char line[256];

	signal(SIGALRM, give_up);
	while (fgets(line, sizeof(line), stdin)) {
		char *word = strtok(line, " \n");
		long nr = atol(word);

		for (int i = 0; i < 6; i++) {
			word = strtok(NULL, " \n");
			words[i] = strcmp(word, "path") ? strtoul(word, NULL, 10) : (unsigned long)PATH;
		}
		alarm(5);
		child = fork();
		if (child == 0) {
			signal(SIGALRM, SIG_DFL);
			alarm(1);
			call(nr, words);
			call(SYS_exit_group, none);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child) {
			perror("call_each");
			return 1;
		}
	}
	return 0;
}
