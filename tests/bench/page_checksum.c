/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measures the checksum of a page's events: page_checksum [ROUNDS] prints for each round of 1000 full
 * pages of 4 KiB the nanoseconds of CLOCK_MONOTONIC per page. Under tests/vm/run --icount these are
 * guest instructions. The code is that of the drain.
 */
#include <fkt/wire.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAGES 1000

static union {
	struct fkt_page_header header;
	__u64 words[FKT_PAGE_MIN_BYTES / sizeof(__u64)];
} page;

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	volatile __u32 sum = 0;

	if (rounds <= 0) {
		fprintf(stderr, "usage: page_checksum [ROUNDS]\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(page.words) / sizeof(page.words[0]); i++)
		page.words[i] = i * 0x9e3779b97f4a7c15ULL;
	page.header.header_bytes = FKT_PAGE_HEADER_BYTES;
	page.header.used = FKT_PAGE_MIN_BYTES;
	for (long round = 0; round < rounds; round++) {
		long long start = now_ns();

		for (int i = 0; i < PAGES; i++) {
			page.words[FKT_PAGE_HEADER_BYTES / sizeof(__u64)]++;
			sum += fkt_events_checksum(&page.header, &page.header + 1);
		}
		printf("%.3f\n", (double)(now_ns() - start) / PAGES);
	}
	return 0;
}
