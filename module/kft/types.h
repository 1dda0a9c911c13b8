/* SPDX-License-Identifier: GPL-2.0-only */
/* What BTF says about functions' arguments and results. */
#ifndef FKT_KFT_TYPES_H
#define FKT_KFT_TYPES_H

#include <linux/types.h>

/* A description of types, which may continue another one. */
struct fkt_kft_types {
	const struct fkt_kft_types *base; /* NULL: it continues none */
	const void *data; /* the types, one behind the other */
	const char *names;
	u32 *offsets; /* in `data`, by id; the first one is of the id `first` */
	u32 first, count; /* ids */
	u32 bytes, name_bytes; /* of `data` and `names` */
	u32 first_name; /* names with smaller offsets are the base's */
};

/* Description of a function. */
struct fkt_kft_prototype {
	bool in_registers; /* all its arguments are */
	/* its result, if that is a number or a pointer; bytes 0: it is not */
	u8 result_bytes;
	bool is_result_signed;
};

int fkt_kft_types_open(struct fkt_kft_types *types, const void *btf, size_t bytes, const struct fkt_kft_types *base);
void fkt_kft_types_close(struct fkt_kft_types *types);
void fkt_kft_types_functions(const struct fkt_kft_types *types,
			     void (*found)(void *data, const char *name, const struct fkt_kft_prototype *prototype),
			     void *data);

#endif /* FKT_KFT_TYPES_H */
