/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_FUZZ_CTYPE_H
#define FKT_FUZZ_CTYPE_H

/* The kernel's letters are those of Latin 1. */
static inline int isdigit(int c)
{
	return c >= '0' && c <= '9';
}

static inline int isalnum(int c)
{
	const unsigned char byte = c;

	return isdigit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= 0xc0 && byte != 0xd7 && byte != 0xf7);
}

#define isascii(c) (((unsigned char)(c)) <= 0x7f)

#endif /* FKT_FUZZ_CTYPE_H */
