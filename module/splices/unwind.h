/* SPDX-License-Identifier: GPL-2.0-only */
/* What the unwinder is told of the detours. */
#ifndef FKT_UNWIND_H
#define FKT_UNWIND_H

struct fkt_detour;
struct fkt_pool;
struct module;

int fkt_unwind_init(void *(*lookup)(const char *name));
void fkt_unwind_exit(void);
void fkt_unwind_set(const struct fkt_pool *pool, unsigned int number, const struct fkt_detour *detour,
		    unsigned long address, const struct module *module);

#endif /* FKT_UNWIND_H */
