// SPDX-License-Identifier: GPL-2.0-only
/*
 * hog SECONDS: runs children, one after another, that allocate all memory; each is killed when no
 * memory is left, or after 30 s. Prints how many children there were and how many of them were killed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (16UL << 20)
#define LONGEST 30 /* s */

/* Makes this process the preferred victim of the OOM killer. */
static void volunteer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY);

	if (fd < 0 || write(fd, "1000", 4) != 4)
		_exit(1);
	close(fd);
}

static void eat(void)
{
	volunteer();
	alarm(LONGEST);
	for (;;) {
		/*
		 * Populated at once: if it were touched page by page, all other programs would be paged
		 * out and in meanwhile.
		 */
		void *more = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (more == MAP_FAILED)
			_exit(1);
	}
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 3);
	int children = 0, killed = 0;

	do {
		int status;
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (!child)
			eat();
		if (waitpid(child, &status, 0) != child)
			return 1;
		children++;
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	} while (time(NULL) < end);
	printf("children %d killed %d\n", children, killed);
	return 0;
}
