/* SPDX-License-Identifier: GPL-2.0-only */
/* What test programs that ask for functions of the kernel share. */
#ifndef FKT_TEST_FUNCTIONS_H
#define FKT_TEST_FUNCTIONS_H

#include <stdio.h>
#include <string.h>

#include <fkt/ioctl.h>

/* Sets at[i] to the address of the symbol names[i], by /proc/kallsyms; it stays 0 if there is none. */
static inline void find_symbols(const char *const *names, __u64 *at, int count)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	char line[512], name[256], type;
	unsigned long long address;
	int i;

	while (symbols && fgets(line, sizeof(line), symbols))
		if (sscanf(line, "%llx %c %255s", &address, &type, name) == 3)
			for (i = 0; i < count; i++)
				if (!strcmp(name, names[i]))
					at[i] = address;
	if (symbols)
		fclose(symbols);
}

/* For qsort(3): the order in which FKT_START takes functions. */
static inline int ascending(const void *a, const void *b)
{
	const struct fkt_called *left = a, *right = b;

	return left->function < right->function ? -1 : left->function > right->function;
}

#endif /* FKT_TEST_FUNCTIONS_H */
