/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page_writes FILE PAGES CHUNK [direct]: writes PAGES pages of 4 KiB with write(2), CHUNK pages at a
 * time, as a reference for FKT's engines. `direct`: O_DIRECT, into space allocated ahead.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int write_all(int fd, const char *from, long pages, long chunk)
{
	while (pages > 0) {
		long now = pages < chunk ? pages : chunk;

		if (write(fd, from, now * PAGE) != now * PAGE)
			return -1;
		pages -= now;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long pages = argc > 3 ? atol(argv[2]) : 0;
	long chunk = argc > 3 ? atol(argv[3]) : 0;
	int direct = argc > 4 && !strcmp(argv[4], "direct");
	char *buffer;
	int fd;

	if (pages <= 0 || chunk <= 0) {
		fprintf(stderr, "usage: page_writes FILE PAGES CHUNK [direct]\n");
		return 2;
	}
	buffer = aligned_alloc(PAGE, chunk * PAGE);
	fd = open(argv[1], O_WRONLY | O_CREAT | (direct ? O_DIRECT : 0), 0600);
	if (!buffer || fd < 0) {
		perror(argv[1]);
		return 1;
	}
	memset(buffer, 1, chunk * PAGE);
	/* A block device needs no allocation. */
	if (direct)
		(void)!fallocate(fd, 0, 0, pages * PAGE);
	if (write_all(fd, buffer, pages, chunk)) {
		perror(argv[1]);
		return 1;
	}
	return close(fd);
}
