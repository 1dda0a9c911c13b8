// SPDX-License-Identifier: GPL-2.0-only
/* The other function described_twin() of described_main.c, with arguments on the stack. */

#include <linux/compiler.h>

#include "described.h"

/* Read each time, so that the compiler does not know the arguments. */
static u64 numbers[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
#define N(i) READ_ONCE(numbers[i])

static noinline __noclone u64 described_twin(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	barrier();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

noinline u64 described_many(u64 first)
{
	return described_twin(first, N(2), N(3), N(4), N(5), N(6), N(7), N(8));
}
