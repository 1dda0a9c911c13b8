/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_FUZZ_ERR_H
#define FKT_FUZZ_ERR_H

#include <errno.h>

#define MAX_ERRNO 4095

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}

#endif /* FKT_FUZZ_ERR_H */
