/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that does nothing: the minimum cost of a process. */
int main(void)
{
	return 0;
}
