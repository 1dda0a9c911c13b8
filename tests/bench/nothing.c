/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process costs that does nothing. */
int main(void)
{
	return 0;
}
