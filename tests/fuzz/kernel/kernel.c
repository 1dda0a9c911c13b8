// SPDX-License-Identifier: GPL-2.0-only
/* The functions of the kernel and the module that module/kft/conditions.c calls, for a process. */
#define _GNU_SOURCE

#include <linux/kernel.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "symbols.h"

#undef scnprintf

int scnprintf(char *text, size_t size, const char *format, const void *error)
{
	const int number = -(int)(long)error;
	const char *name = strerrorname_np(number);

	if (strcmp(format, "%pe"))
		abort();
	return name ? snprintf(text, size, "-%s", name) : snprintf(text, size, "-%d", number);
}

int kstrtoull(const char *text, unsigned int base, u64 *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, base);
	return errno || end == text || *end ? -EINVAL : 0;
}

/* A tick is a nanosecond. */
u64 fkt_kft_ticks(u64 ns)
{
	return ns;
}
