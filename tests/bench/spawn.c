/* SPDX-License-Identifier: GPL-2.0-only */
/* spawn TIMES COMMAND: runs the command (fork, exec, wait) TIMES times. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long times = argc > 2 ? atol(argv[1]) : 0;
	int status;

	if (times <= 0) {
		fprintf(stderr, "usage: spawn TIMES COMMAND\n");
		return 2;
	}
	while (times--) {
		pid_t pid = fork();

		if (pid == 0) {
			execl(argv[2], argv[2], (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
