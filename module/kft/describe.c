// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marks the functions of a configuration whose arguments are all in registers: calls of other functions cannot be
 * traced through the trampoline of calls/, which needs the stack where their arguments would be. The kernel and its
 * modules describe this in BTF, and the functions' results; it is read here by the same rules as in
 * lib/instrument/argument_words.cc. A description names functions without their addresses, so it says nothing of
 * functions that share a name with another one, selected or not.
 */

#include <linux/btf.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/vmalloc.h>

#include "kernel_symbols.h"
#include "symbols.h"

/* Newer headers go on with what the older makers of BTF do not write. */
#define HEADER_BYTES offsetofend(struct btf_header, str_len)
#define REGISTERS 6
#define REGISTER_BYTES 16 /* most that one argument has in registers */
#define STRUCT_DEPTH 8 /* structures in structures */
#define CHAIN 32 /* names and qualifiers of one type */
#define FOLDER "/sys/kernel/btf/"
#define MODULE_MOST SZ_64M /* bytes of a module's description */

/* ---- types ---- */

/* A description of types, which may continue another one. */
struct types {
	const struct types *base; /* NULL: it continues none */
	const void *data; /* the types, one behind the other */
	const char *names;
	u32 *offsets; /* in `data`, by id; the first one is of the id `first` */
	u32 first, count; /* ids */
	u32 bytes, name_bytes; /* of `data` and `names` */
	u32 first_name; /* names with smaller offsets are the base's */
};

/* Description of a function. */
struct prototype {
	bool in_registers; /* all its arguments are */
	u8 result_bytes; /* as in struct fkt_kft_symbol, and so is the next one */
	bool is_result_signed;
};

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
static u32 walk(const struct types *types)
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
 * or -ENOMEM. After a success the caller must call close_types().
 */
static int open_types(struct types *types, const void *btf, size_t bytes, const struct types *base)
{
	const struct btf_header *header = btf;

	if (!btf || bytes < HEADER_BYTES || header->magic != BTF_MAGIC || header->hdr_len < HEADER_BYTES ||
	    header->hdr_len > bytes || header->type_off > bytes - header->hdr_len ||
	    header->type_len > bytes - header->hdr_len - header->type_off ||
	    header->str_off > bytes - header->hdr_len ||
	    header->str_len > bytes - header->hdr_len - header->str_off || !header->str_len)
		return -ENOENT;
	*types = (struct types){
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

static void close_types(struct types *types)
{
	kvfree(types->offsets);
	types->offsets = NULL;
}

/* Returns NULL for void and for unknown ids. */
static const struct btf_type *type_of(const struct types *types, u32 id)
{
	while (types && id < types->first)
		types = types->base;
	if (!types || id - types->first >= types->count)
		return NULL;
	return types->data + types->offsets[id - types->first];
}

static const char *name_of(const struct types *types, u32 offset)
{
	while (types && offset < types->first_name)
		types = types->base;
	return types && offset - types->first_name < types->name_bytes ? types->names + offset - types->first_name : "";
}

/* Returns the type behind names and qualifiers; NULL: void. */
static const struct btf_type *plain_type(const struct types *types, u32 id)
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
static bool is_aligned(const struct types *types, const struct btf_type *type, u32 bit, u32 depth)
{
	const struct btf_member *member;
	u32 bytes, i;

	if (type && BTF_INFO_KIND(type->info) == BTF_KIND_ARRAY) {
		type = plain_type(types, ((const struct btf_array *)(type + 1))->type);
		if (type && is_struct(type))
			return false;
	}
	if (!type || depth == STRUCT_DEPTH)
		return false;
	if (!is_struct(type)) {
		bytes = scalar_bytes(type);
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
static u32 registers_of(const struct types *types, const struct btf_type *type)
{
	u32 bytes;

	if (!type)
		return 0;
	bytes = is_struct(type) ? type->size : scalar_bytes(type);
	if (!bytes || bytes > REGISTER_BYTES || (is_struct(type) && !is_aligned(types, type, 0, 0)))
		return 0;
	return DIV_ROUND_UP(bytes, 8);
}

static bool is_in_registers(const struct types *types, const struct btf_type *prototype)
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
static struct prototype read_prototype(const struct types *types, const struct btf_type *prototype)
{
	const struct btf_type *result = plain_type(types, prototype->type);
	const u32 bytes = result ? scalar_bytes(result) : 0;

	return (struct prototype){
		.in_registers = is_in_registers(types, prototype),
		.result_bytes = bytes <= sizeof(u64) ? bytes : 0,
		.is_result_signed = bytes && is_signed(result),
	};
}

/* ---- the symbols by name ---- */

/*
 * The symbols by name: chains of those whose names have the same hash. There may be 200,000; sorting them would compare
 * each name with some 40 others.
 */
struct name_index {
	struct fkt_kft_symbols *set;
	u32 *first; /* number of a chain's first symbol, plus one; 0: there is none */
	u32 *next; /* for each symbol, the number of the next one in its chain, plus one; 0: it is the last */
	u32 bits;
};

static u32 *chain_of(const struct name_index *index, const char *name)
{
	return &index->first[hash_32(full_name_hash(NULL, name, strlen(name)), index->bits)];
}

/* Returns the first symbol of this name and module from the place `at` of a chain on, and sets `at` behind it. */
static struct fkt_kft_symbol *next_called(const struct name_index *index, const char *name,
					  const struct module *module, u32 *at)
{
	while (*at) {
		struct fkt_kft_symbol *symbol = &index->set->symbols[*at - 1];

		*at = index->next[*at - 1];
		if (symbol->module == module && !strcmp(fkt_kft_symbol_name(index->set, symbol), name))
			return symbol;
	}
	return NULL;
}

static void free_index(struct name_index *index)
{
	kvfree(index->first);
	kvfree(index->next);
}

/* Makes the index of all symbols. Returns 0, after which the caller must call free_index(), or -ENOMEM. */
static int make_index(struct name_index *index, struct fkt_kft_symbols *set)
{
	u32 i, *first;

	index->set = set;
	index->bits = max(ilog2(set->count | 1), 4);
	index->first = kvcalloc(1UL << index->bits, sizeof(*index->first), GFP_KERNEL);
	index->next = kvmalloc_array(set->count | 1, sizeof(*index->next), GFP_KERNEL);
	if (!index->first || !index->next) {
		free_index(index);
		return -ENOMEM;
	}
	for (i = 0; i < set->count; i++) {
		first = chain_of(index, fkt_kft_symbol_name(set, &set->symbols[i]));
		index->next[i] = *first;
		*first = i + 1;
		cond_resched();
	}
	return 0;
}

/* Marks the symbols that have the name, but not the address, of this one. */
static int see_namesake(void *data, const char *name, struct module *module, unsigned long address)
{
	const struct name_index *index = data;
	struct fkt_kft_symbol *symbol;
	u32 at = *chain_of(index, name);

	while ((symbol = next_called(index, name, module, &at)))
		symbol->is_ambiguous |= symbol->address != address;
	return 0;
}

/* ---- the descriptions ---- */

static void see_result(struct fkt_kft_symbol *symbol, const struct prototype *prototype)
{
	if (symbol->is_seen && (symbol->result_bytes != prototype->result_bytes ||
				symbol->is_result_signed != prototype->is_result_signed))
		symbol->is_ambiguous_result = true;
	symbol->is_seen = true;
	symbol->is_result_signed = prototype->is_result_signed;
	symbol->result_bytes = symbol->is_ambiguous || symbol->is_ambiguous_result ? 0 : prototype->result_bytes;
}

/* Of functions that share a name, only common properties are kept. */
static void see_function(const struct name_index *index, const struct module *module, const char *name,
			 const struct prototype *prototype)
{
	struct fkt_kft_symbol *symbol;
	u32 at = *chain_of(index, name);

	while ((symbol = next_called(index, name, module, &at))) {
		see_result(symbol, prototype);
		symbol->is_described = prototype->in_registers && !symbol->is_ambiguous;
		/* Stays set for later functions with this name. */
		symbol->is_ambiguous |= !prototype->in_registers;
	}
}

/*
 * Reads the prototypes in `types` into the symbols of the same name and module. Several functions can have one name.
 * module: NULL for functions of the kernel itself.
 */
static void see_functions(const struct name_index *index, const struct module *module, const struct types *types)
{
	u32 i;

	for (i = 0; i < types->count; i++) {
		const struct btf_type *type = types->data + types->offsets[i], *prototype;
		struct prototype read;

		if (BTF_INFO_KIND(type->info) != BTF_KIND_FUNC)
			continue;
		prototype = type_of(types, type->type);
		if (prototype && BTF_INFO_KIND(prototype->info) == BTF_KIND_FUNC_PROTO) {
			read = read_prototype(types, prototype);
			see_function(index, module, name_of(types, type->name_off), &read);
		}
		if (!(i % 4096))
			cond_resched();
	}
}

/* Opens a file by its path outside of all containers, as the kernel does for firmware. */
static struct file *open_path(const char *path)
{
	struct path root;
	struct file *file;

	/* Not init_task: newer kernels leave kernel threads an empty root. */
	task_lock(init_pid_ns.child_reaper);
	get_fs_root(init_pid_ns.child_reaper->fs, &root);
	task_unlock(init_pid_ns.child_reaper);
	file = file_open_root(&root, path, O_RDONLY, 0);
	path_put(&root);
	return file;
}

/* Returns what vfree() takes, and sets its bytes; NULL: the file cannot be read; or an ERR_PTR of -ENOMEM. */
static void *read_whole(struct file *file, size_t *bytes)
{
	loff_t size = i_size_read(file_inode(file)), at = 0;
	ssize_t got = 1;
	void *data;

	if (!S_ISREG(file_inode(file)->i_mode) || size <= 0 || size > MODULE_MOST)
		return NULL;
	data = __vmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!data)
		return ERR_PTR(-ENOMEM);
	/* A file of sysfs gives a page at a time. */
	while (at < size && got > 0)
		got = kernel_read(file, data + at, size - at, &at);
	*bytes = size;
	if (at == size)
		return data;
	vfree(data);
	return NULL;
}

/*
 * Returns the description, as read_whole(). Not by kernel_read_file(), which asks security modules about what the
 * kernel will execute or obey.
 */
static void *read_description(const struct module *module, size_t *bytes)
{
	char path[sizeof(FOLDER) + MODULE_NAME_LEN];
	struct file *file;
	void *data;

	scnprintf(path, sizeof(path), FOLDER "%s", module->name);
	file = open_path(path);
	if (IS_ERR(file))
		return PTR_ERR(file) == -ENOMEM ? ERR_CAST(file) : NULL;
	data = read_whole(file, bytes);
	fput(file);
	return data;
}

/*
 * Searches the description of the module for its functions. It is the copy that the kernel made: that in the module
 * (btf_data) is freed while the module is being loaded. Without a description none of them is marked.
 */
static int describe_module(const struct name_index *index, const struct types *kernel,
			   const struct module *module)
{
	struct types types;
	size_t bytes;
	void *btf = read_description(module, &bytes);
	int err;

	if (IS_ERR_OR_NULL(btf))
		return PTR_ERR_OR_ZERO(btf);
	err = open_types(&types, btf, bytes, kernel);
	if (!err) {
		see_functions(index, module, &types);
		close_types(&types);
	}
	vfree(btf);
	return err == -ENOENT ? 0 : err;
}

static int describe(const struct name_index *index, const struct fkt_kft_tracer *tracer)
{
	const void *begin = (void *)tracer->symbol("__start_BTF"), *end = (void *)tracer->symbol("__stop_BTF");
	struct types kernel;
	int err;
	u32 i;

	if (!begin || end <= begin)
		return 0;
	err = open_types(&kernel, begin, end - begin, NULL);
	if (err)
		return err == -ENOENT ? 0 : err;
	see_functions(index, NULL, &kernel);
	for (i = 0; !err && i < index->set->module_count; i++) {
		err = describe_module(index, &kernel, index->set->modules[i]);
		cond_resched();
	}
	close_types(&kernel);
	return err;
}

/*
 * Marks the functions whose arguments are in registers according to BTF; without BTF none is marked. The modules of the
 * symbols must be held. Returns 0 or -ENOMEM.
 */
int fkt_kft_describe(struct fkt_kft_symbols *set, const struct fkt_kft_tracer *tracer)
{
	struct name_index index;
	int err = make_index(&index, set);

	if (err)
		return err;
	fkt_kft_each_symbol(see_namesake, &index);
	err = describe(&index, tracer);
	free_index(&index);
	return err;
}
