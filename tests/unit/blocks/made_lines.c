/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines whose code is known: source_lines_test.cc counts them. */
volatile int made_counter;

static inline __attribute__((always_inline)) void made_twice(void)
{
	made_counter = 7; /* line 7: in two functions */
}

int made_first(void)
{
	made_twice();
	return 1;
}

int made_second(int n)
{
	if (n > 3)
		made_twice();

	made_counter = n; /* line 21 */
	return 2;
}
