/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds out what the kernel and its modules say about their functions' arguments and results. */
#ifndef FKT_KFT_DESCRIBE_H
#define FKT_KFT_DESCRIBE_H

struct fkt_kft_symbols;
struct fkt_kft_tracer;

int fkt_kft_describe(struct fkt_kft_symbols *set, const struct fkt_kft_tracer *tracer);

#endif /* FKT_KFT_DESCRIBE_H */
