/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * awake TIMES COMMAND...: runs the command TIMES times, one after the other, and prints for each run
 * the wall-clock time in seconds, the nanoseconds that the CPUs were not idle, and the total CPU time
 * of FKT's drain so far, from its schedstat (0 if none runs).
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct clocks {
	double wall;
	long long awake;
};

/* Returns the time of all online CPUs except that of their idle tasks, exact to the nanosecond. */
static long long awake_ns(void)
{
	FILE *file = fopen("/proc/timer_list", "r");
	long long now = 0, idle = 0, value;
	int cpus = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "now at %lld", &value) == 1)
			now = value;
		else if (sscanf(line, " .idle_sleeptime : %lld", &value) == 1)
			idle += value, cpus++;
		else if (sscanf(line, " .iowait_sleeptime : %lld", &value) == 1)
			idle += value;
	}
	if (file)
		fclose(file);
	return now * (cpus ? cpus : 1) - idle;
}

static struct clocks clocks_now(void)
{
	struct clocks clocks;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	clocks.wall = t.tv_sec + t.tv_nsec / 1e9;
	clocks.awake = awake_ns();
	return clocks;
}

/* Returns the first line of a file in /proc/PID; "" if there is none. */
static const char *line_of(const char *pid, const char *name)
{
	static char line[128];
	char path[64];
	FILE *file;

	line[0] = 0;
	snprintf(path, sizeof(path), "/proc/%.16s/%s", pid, name);
	file = fopen(path, "r");
	if (!file)
		return line;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	return line;
}

static long long drain_ns(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	long long ns = 0;

	while (proc && (entry = readdir(proc)))
		if (!strcmp(line_of(entry->d_name, "comm"), "fkt_drain\n"))
			ns = atoll(line_of(entry->d_name, "schedstat"));
	if (proc)
		closedir(proc);
	return ns;
}

static int run(char **command)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return status;
}

int main(int argc, char **argv)
{
	long times = argc > 2 ? atol(argv[1]) : 0;
	struct clocks before, after;

	if (times <= 0) {
		fprintf(stderr, "usage: awake TIMES COMMAND...\n");
		return 2;
	}
	before = clocks_now();
	for (long i = 0; i < times; i++)
		if (run(argv + 2))
			return 1;
	after = clocks_now();
	printf("awake: %.6f %lld %lld\n", (after.wall - before.wall) / times,
	       (after.awake - before.awake) / times, drain_ns() / times);
	return 0;
}
