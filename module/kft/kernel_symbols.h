/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel knows of its symbols and those of its modules, and what fkt_calls knows of functions. */
#ifndef FKT_KFT_KERNEL_SYMBOLS_H
#define FKT_KFT_KERNEL_SYMBOLS_H

#include <linux/types.h>

struct module;

/* Functions that fkt_calls exports, while it is held. */
struct fkt_kft_tracer {
	unsigned long (*symbol)(const char *name);
	bool (*may_trace)(unsigned long function);
};

int fkt_kft_tracer_get(struct fkt_kft_tracer *tracer);
void fkt_kft_tracer_put(const struct fkt_kft_tracer *tracer);

/* module: NULL: it is the kernel's own; it is not freed during the call. A result that is not 0 ends the walk. */
typedef int (*fkt_kft_see)(void *data, const char *name, struct module *module, unsigned long address);

void fkt_kft_each_symbol(fkt_kft_see see, void *data);
bool fkt_kft_is_module_code(unsigned long address);
bool fkt_kft_is_unprobed(unsigned long address);

#endif /* FKT_KFT_KERNEL_SYMBOLS_H */
