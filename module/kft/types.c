// SPDX-License-Identifier: GPL-2.0-only
/*
 * The results of functions, and whether all their arguments are in registers: calls of other functions cannot be traced
 * through the trampoline of calls/, which needs the stack where their arguments would be. The kernel and its modules
 * describe this in BTF; it is read here by the same rules as in lib/instrument/argument_words.cc.
 */

#include <linux/btf.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/stddef.h>

#include "types.h"

/* Newer headers go on with what the older makers of BTF do not write. */
#define HEADER_BYTES offsetofend(struct btf_header, str_len)
#define REGISTERS 6
#define REGISTER_BYTES 16 /* most that one argument has in registers */
#define STRUCT_DEPTH 8 /* structures in structures */
#define CHAIN 32 /* names and qualifiers of one type */

/* Bytes behind a struct btf_type; U32_MAX: the kind is unknown. */
static u32 bytes_behind(const struct btf_type *type)
{
	const u32 n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
		return sizeof(u32);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	default:
		return U32_MAX;
	}
}

/* Sets `offsets`, if there are any, and returns how many types there are; 0: the description is damaged. */
static u32 walk(const struct fkt_kft_types *types)
{
	u32 at = 0, count = 0;

	while (at < types->bytes) {
		const struct btf_type *type = types->data + at;
		u32 behind;

		if (types->bytes - at < sizeof(*type))
			return 0;
		behind = bytes_behind(type);
		if (behind > types->bytes - at - sizeof(*type))
			return 0;
		if (types->offsets)
			types->offsets[count] = at;
		count++;
		at += sizeof(*type) + behind;
	}
	return count;
}

/*
 * Opens a description. base: the one that it continues; NULL: none. Returns 0, -ENOENT: there is none that can be read,
 * or -ENOMEM. After a success the caller must call fkt_kft_types_close().
 */
int fkt_kft_types_open(struct fkt_kft_types *types, const void *btf, size_t bytes, const struct fkt_kft_types *base)
{
	const struct btf_header *header = btf;

	if (!btf || bytes < HEADER_BYTES || header->magic != BTF_MAGIC || header->hdr_len < HEADER_BYTES ||
	    header->hdr_len > bytes || header->type_off > bytes - header->hdr_len ||
	    header->type_len > bytes - header->hdr_len - header->type_off ||
	    header->str_off > bytes - header->hdr_len ||
	    header->str_len > bytes - header->hdr_len - header->str_off || !header->str_len)
		return -ENOENT;
	*types = (struct fkt_kft_types){
		.base = base,
		.data = btf + header->hdr_len + header->type_off,
		.names = btf + header->hdr_len + header->str_off,
		/* The id 0 is that of void, which is not in the data. */
		.first = base ? base->first + base->count : 1,
		.bytes = header->type_len,
		.name_bytes = header->str_len,
		.first_name = base ? base->first_name + base->name_bytes : 0,
	};
	if (types->names[types->name_bytes - 1])
		return -ENOENT;
	types->count = walk(types);
	if (!types->count)
		return -ENOENT;
	types->offsets = kvmalloc_array(types->count, sizeof(*types->offsets), GFP_KERNEL);
	if (!types->offsets)
		return -ENOMEM;
	walk(types);
	return 0;
}

void fkt_kft_types_close(struct fkt_kft_types *types)
{
	kvfree(types->offsets);
	types->offsets = NULL;
}

/* Returns NULL for void and for unknown ids. */
static const struct btf_type *type_of(const struct fkt_kft_types *types, u32 id)
{
	while (types && id < types->first)
		types = types->base;
	if (!types || id - types->first >= types->count)
		return NULL;
	return types->data + types->offsets[id - types->first];
}

static const char *name_of(const struct fkt_kft_types *types, u32 offset)
{
	while (types && offset < types->first_name)
		types = types->base;
	return types && offset - types->first_name < types->name_bytes ? types->names + offset - types->first_name : "";
}

/* Returns the type behind names and qualifiers; NULL: void. */
static const struct btf_type *plain_type(const struct fkt_kft_types *types, u32 id)
{
	const struct btf_type *type = type_of(types, id);
	u32 i;

	for (i = 0; type && i < CHAIN; i++) {
		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			type = type_of(types, type->type);
			continue;
		}
		break;
	}
	return type;
}

/* Returns the bytes of a number or a pointer; 0: it is neither. */
static u32 scalar_bytes(const struct btf_type *type)
{
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
		return sizeof(void *);
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return type->size;
	}
	return 0;
}

static bool is_struct(const struct btf_type *type)
{
	return BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT || BTF_INFO_KIND(type->info) == BTF_KIND_UNION;
}

/*
 * Returns whether everything in the type is where its own size aligns it, and is a number or a pointer. Structures with
 * other members (packed ones, floating point) are passed otherwise.
 */
static bool is_aligned(const struct fkt_kft_types *types, const struct btf_type *type, u32 bit, u32 depth)
{
	const struct btf_member *member;
	u32 i;

	if (!type || depth == STRUCT_DEPTH)
		return false;
	if (BTF_INFO_KIND(type->info) == BTF_KIND_ARRAY) {
		const struct btf_array *array = (const void *)(type + 1);
		const struct btf_type *element = plain_type(types, array->type);
		const u32 bytes = element ? scalar_bytes(element) : 0;

		return bytes && bit % (8 * bytes) == 0;
	}
	if (!is_struct(type)) {
		const u32 bytes = scalar_bytes(type);

		return bytes && bit % (8 * bytes) == 0;
	}
	member = (const void *)(type + 1);
	for (i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		u32 offset = member[i].offset;

		if (BTF_INFO_KFLAG(type->info)) {
			if (BTF_MEMBER_BITFIELD_SIZE(offset))
				continue;
			offset = BTF_MEMBER_BIT_OFFSET(offset);
		}
		if (!is_aligned(types, plain_type(types, member[i].type), bit + offset, depth + 1))
			return false;
	}
	return true;
}

/* Returns the registers that a value takes; 0: it is on the stack, or not known. */
static u32 registers_of(const struct fkt_kft_types *types, const struct btf_type *type)
{
	u32 bytes;

	if (!type)
		return 0;
	bytes = is_struct(type) ? type->size : scalar_bytes(type);
	if (!bytes || bytes > REGISTER_BYTES || (is_struct(type) && !is_aligned(types, type, 0, 0)))
		return 0;
	return DIV_ROUND_UP(bytes, 8);
}

static bool is_in_registers(const struct fkt_kft_types *types, const struct btf_type *prototype)
{
	const struct btf_param *argument = (const void *)(prototype + 1);
	const struct btf_type *result = plain_type(types, prototype->type);
	u32 i, n, next;

	/* The address where a large result belongs is an argument before the first one. */
	next = result && is_struct(result) && !registers_of(types, result) ? 1 : 0;
	for (i = 0; i < BTF_INFO_VLEN(prototype->info); i++) {
		/* A number of arguments that varies ends with void. */
		n = registers_of(types, plain_type(types, argument[i].type));
		if (!n || next + n > REGISTERS)
			return false;
		next += n;
	}
	return true;
}

static bool is_signed(const struct btf_type *type)
{
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
		return BTF_INT_ENCODING(*(const u32 *)(type + 1)) & BTF_INT_SIGNED;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return BTF_INFO_KFLAG(type->info);
	}
	return false;
}

/* Returns what is known of a function with this prototype. */
static struct fkt_kft_prototype read_prototype(const struct fkt_kft_types *types, const struct btf_type *prototype)
{
	const struct btf_type *result = plain_type(types, prototype->type);
	const u32 bytes = result ? scalar_bytes(result) : 0;

	return (struct fkt_kft_prototype){
		.in_registers = is_in_registers(types, prototype),
		.result_bytes = bytes <= sizeof(u64) ? bytes : 0,
		.is_result_signed = bytes && is_signed(result),
	};
}

/* Calls `found` for each function that is described, which may be several of the same name. */
void fkt_kft_types_functions(const struct fkt_kft_types *types,
			     void (*found)(void *data, const char *name, const struct fkt_kft_prototype *prototype),
			     void *data)
{
	struct fkt_kft_prototype read;
	u32 i;

	for (i = 0; i < types->count; i++) {
		const struct btf_type *type = types->data + types->offsets[i], *prototype;

		if (BTF_INFO_KIND(type->info) != BTF_KIND_FUNC)
			continue;
		prototype = type_of(types, type->type);
		if (prototype && BTF_INFO_KIND(prototype->info) == BTF_KIND_FUNC_PROTO) {
			read = read_prototype(types, prototype);
			found(data, name_of(types, type->name_off), &read);
		}
		if (!(i % 4096))
			cond_resched();
	}
}
