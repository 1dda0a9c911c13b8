/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's description of its types (BTF), for test programs that walk through it. */
#ifndef FKT_TEST_KERNEL_TYPES_H
#define FKT_TEST_KERNEL_TYPES_H

#include <err.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns the description; the caller frees it. */
static inline char *read_kernel_types(void)
{
	const char *const path = "/sys/kernel/btf/vmlinux";
	const int file = open(path, O_RDONLY);
	size_t size = 0, room = 1 << 25;
	char *types = malloc(room);
	ssize_t n = 1;

	if (file < 0 || !types)
		err(1, "%s", path);
	while (n > 0 && size < room) {
		n = read(file, types + size, room - size);
		size += n > 0 ? (size_t)n : 0;
	}
	if (n)
		errx(1, "%s: cannot be read, or is larger than %zu bytes", path, room);
	close(file);
	return types;
}

/* Returns the type that follows this one. */
static inline const struct btf_type *next_type(const struct btf_type *type)
{
	const size_t n = BTF_INFO_VLEN(type->info);
	size_t behind = 0;

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		behind = sizeof(__u32);
		break;
	case BTF_KIND_ARRAY:
		behind = sizeof(struct btf_array);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		behind = n * sizeof(struct btf_member);
		break;
	case BTF_KIND_ENUM:
		behind = n * sizeof(struct btf_enum);
		break;
	case BTF_KIND_ENUM64:
		behind = n * sizeof(struct btf_enum64);
		break;
	case BTF_KIND_FUNC_PROTO:
		behind = n * sizeof(struct btf_param);
		break;
	case BTF_KIND_DATASEC:
		behind = n * sizeof(struct btf_var_secinfo);
		break;
	}
	return (const void *)((const char *)(type + 1) + behind);
}

#endif
