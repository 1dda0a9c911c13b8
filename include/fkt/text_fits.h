/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Patterns of texts: one function for the kernel's conditions and programs. Any context. */
#ifndef FKT_TEXT_FITS_H
#define FKT_TEXT_FITS_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#else
#include <stddef.h>
#endif

/*
 * Returns whether all of `text` matches the pattern: `*` matches any characters, `?` one. The number of
 * comparisons is at most the product of the lengths.
 */
static inline int fkt_text_fits(const char *text, const char *pattern)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) { /* the star matches one more character */
			pattern = star + 1;
			text = ++from;
		} else {
			return 0;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

#endif /* FKT_TEXT_FITS_H */
