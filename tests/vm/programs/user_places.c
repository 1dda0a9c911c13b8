// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose functions are recorded (tests/vm/cases/user_places): user_places N [FOLLOW-UP] calls each of them N
 * times with arguments that follow from the number of the call, and prints what it has called. FOLLOW-UP: "threads" does
 * it in four threads at once; "absent" calls place_many with pointers to memory that is not there, cannot be read, or is
 * never given (userfaultfd); "fork" once more in a child; "exec" once more after an exec; "die" is killed in a function.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "in_threads.h"

#define KEPT __attribute__((noipa, noinline, used))

struct node {
	long first, second;
	const char *name;
};

KEPT long place_many(int a, unsigned int b, long c, const void *d, long e, long f, long g, long h)
{
	return a + b + c + (d != NULL) + e + f + g + h;
}

KEPT int place_text(const char *text)
{
	return -(int)strlen(text);
}

KEPT long place_node(const struct node *node)
{
	return node->second;
}

KEPT unsigned long place_deep(unsigned long n);

/* The compiler would make a loop of it. */
static unsigned long (*volatile deeper)(unsigned long n) = place_deep;

KEPT unsigned long place_deep(unsigned long n)
{
	return n ? deeper(n - 1) + 1 : 0;
}

KEPT void place_dies(int how)
{
	if (how)
		kill(getpid(), SIGKILL);
}

/* It begins with a long nop: newer kernels replace a uprobe there by a call of code that makes a system call. */
KEPT int place_nop(int i);
__asm__(".text\n.globl place_nop\n.type place_nop, @function\nplace_nop:\n"
	"\t.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n\tmov %edi, %eax\n\tret\n.size place_nop, . - place_nop\n");

static long calls;

static void *call_all(void *unused)
{
	const struct node node = { .first = 11, .second = 22, .name = "the node's name" };
	long i;

	(void)unused;
	for (i = 0; i < calls; i++) {
		place_many(-(int)i, 7, i << 33, &node, 5, 6, i + 1000, i + 2000);
		place_text(i % 2 ? "odd" : "an even one");
		place_node(&node);
		place_deep(3);
		place_dies(0);
		place_nop((int)i);
	}
	return NULL;
}

/* Memory whose fault nobody serves; NULL: there is no userfaultfd here. */
static const void *silent_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register what = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	const int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	what.range.start = (unsigned long)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	what.range.len = 4096;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &what))
		return NULL;
	return (const void *)what.range.start;
}

/* The last one can be read, once the page is there. */
static int absent(const char *self)
{
	const int fd = open(self, O_RDONLY);
	const void *const at[] = {
		NULL, (const void *)~0UL, (const void *)0xffffffff81000000UL, (const void *)0x8000000000000000UL,
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), silent_page(),
		(const char *)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) + 1,
	};
	unsigned int i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		place_many(1, 2, 3, at[i], 5, 6, 7, 8);
	return fd < 0;
}

int main(int argc, char **argv)
{
	const char *then = argc > 2 ? argv[2] : "";

	calls = argc > 1 ? atol(argv[1]) : 1;
	if (!strcmp(then, "threads"))
		return in_threads(call_all);
	if (!strcmp(then, "absent"))
		return absent(argv[0]);
	call_all(NULL);
	if (!strcmp(then, "fork")) {
		if (!fork())
			call_all(NULL);
		else
			wait(NULL);
	} else if (!strcmp(then, "exec")) {
		execl(argv[0], argv[0], argv[1], (char *)NULL);
		return 1;
	} else if (!strcmp(then, "die")) {
		place_dies(1);
	}
	return 0;
}
