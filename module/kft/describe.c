// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marks the functions of a configuration whose arguments are described (BTF, types.h). A description names functions
 * without their addresses, so it says nothing of functions that share a name with another one, selected or not.
 */

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/vmalloc.h>

#include "describe.h"
#include "kernel_symbols.h"
#include "symbol_set.h"
#include "types.h"

#define FOLDER "/sys/kernel/btf/"
#define MODULE_MOST SZ_64M /* bytes of a module's description */

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

/* A search through one description. */
struct looking {
	const struct name_index *index;
	const struct module *module;
};

static void see_result(struct fkt_kft_symbol *symbol, const struct fkt_kft_prototype *prototype)
{
	if (symbol->is_seen && (symbol->result_bytes != prototype->result_bytes ||
				symbol->is_result_signed != prototype->is_result_signed))
		symbol->is_ambiguous_result = true;
	symbol->is_seen = true;
	symbol->is_result_signed = prototype->is_result_signed;
	symbol->result_bytes = symbol->is_ambiguous || symbol->is_ambiguous_result ? 0 : prototype->result_bytes;
}

/* Called for each function that BTF describes. Of functions that share a name, only common properties are kept. */
static void see_function(void *data, const char *name, const struct fkt_kft_prototype *prototype)
{
	const struct looking *looking = data;
	struct fkt_kft_symbol *symbol;
	u32 at = *chain_of(looking->index, name);

	while ((symbol = next_called(looking->index, name, looking->module, &at))) {
		see_result(symbol, prototype);
		symbol->is_described = prototype->in_registers && !symbol->is_ambiguous;
		/* Stays set for later functions with this name. */
		symbol->is_ambiguous |= !prototype->in_registers;
	}
}

/* Opens a file by its path outside of all containers, as the kernel does for firmware. */
static struct file *open_path(const char *path)
{
	struct path root;
	struct file *file;

	task_lock(&init_task);
	get_fs_root(init_task.fs, &root);
	task_unlock(&init_task);
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
static int describe_module(const struct name_index *index, const struct fkt_kft_types *kernel,
			   const struct module *module)
{
	struct looking looking = { index, module };
	struct fkt_kft_types types;
	size_t bytes;
	void *btf = read_description(module, &bytes);
	int err;

	if (IS_ERR_OR_NULL(btf))
		return PTR_ERR_OR_ZERO(btf);
	err = fkt_kft_types_open(&types, btf, bytes, kernel);
	if (!err) {
		fkt_kft_types_functions(&types, see_function, &looking);
		fkt_kft_types_close(&types);
	}
	vfree(btf);
	return err == -ENOENT ? 0 : err;
}

static int describe(const struct name_index *index, const struct fkt_kft_tracer *tracer)
{
	const void *begin = (void *)tracer->symbol("__start_BTF"), *end = (void *)tracer->symbol("__stop_BTF");
	struct looking looking = { index };
	struct fkt_kft_types kernel;
	int err;
	u32 i;

	if (!begin || end <= begin)
		return 0;
	err = fkt_kft_types_open(&kernel, begin, end - begin, NULL);
	if (err)
		return err == -ENOENT ? 0 : err;
	fkt_kft_types_functions(&kernel, see_function, &looking);
	for (i = 0; !err && i < index->set->module_count; i++) {
		err = describe_module(index, &kernel, index->set->modules[i]);
		cond_resched();
	}
	fkt_kft_types_close(&kernel);
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
