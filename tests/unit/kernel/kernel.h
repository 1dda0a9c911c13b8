/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What module/drain/writeout.c, module/drain/page_index.c, module/arch/x86/splices/detour.c and the headers that they
 * include use of the kernel, for a process with one thread. Included before each of these files, for which the kernel's own headers are empty (CMakeLists.txt). Types
 * of which only the name is needed have no content.
 */
#ifndef FKT_TEST_KERNEL_H
#define FKT_TEST_KERNEL_H

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef __s32 s32;
typedef unsigned int gfp_t;
typedef unsigned long pgoff_t;

#define U32_MAX (~0U)
#define PAGE_SIZE 4096UL
#define ____cacheline_aligned_in_smp
#define __rcu
#define BUILD_BUG_ON(wrong) _Static_assert(!(wrong), #wrong)
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define rounddown(x, y) ((x) - (x) % (y))
#define check_add_overflow(a, b, sum) __builtin_add_overflow(a, b, sum)
#define check_mul_overflow(a, b, product) __builtin_mul_overflow(a, b, product)
#define READ_ONCE(x) (x)
#define smp_store_release(pointer, value) (*(pointer) = (value))
#define smp_load_acquire(pointer) (*(pointer))

/* ---- lists ---- */

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void list_add_tail(struct list_head *node, struct list_head *list)
{
	node->prev = list->prev;
	node->next = list;
	list->prev->next = node;
	list->prev = node;
}

static inline void list_del(struct list_head *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

#define list_for_each_entry_safe(at, after, list, member) \
	for (at = container_of((list)->next, __typeof__(*at), member), \
	     after = container_of(at->member.next, __typeof__(*at), member); \
	     &at->member != (list); at = after, after = container_of(at->member.next, __typeof__(*at), member))

/* ---- CPUs ---- */

#define CPUS 3
#define nr_cpu_ids ((unsigned int)CPUS)
#define cpu_possible(cpu) ((cpu) < nr_cpu_ids)
#define for_each_possible_cpu(cpu) for (cpu = 0; cpu < nr_cpu_ids; cpu++)
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name[CPUS]
#define per_cpu_ptr(pointer, cpu) (&(*(pointer))[cpu])

/* ---- locks and waiting: of these nothing is called ---- */

typedef struct {
	int count;
} atomic_t, refcount_t, spinlock_t, wait_queue_head_t, call_single_data_t;

struct mutex { int count; };
struct completion { int done; };
struct rcuwait { int unused; };
struct work_struct { int unused; };
struct notifier_block { int unused; };
struct xarray { int unused; };

#define mutex_lock_killable(lock) ((lock)->count)

/* ---- memory ---- */

#define GFP_KERNEL 0
#define __GFP_NOWARN 0
#define kvmalloc_array(count, size, flags) calloc(count, size)
#define kvfree(pointer) free(pointer)
/* A frame is known by its address. */
#define virt_to_page(address) ((struct page *)(address))

/* ---- files ---- */

struct cred { int unused; };

typedef struct {
	unsigned int val;
} kuid_t;

struct path { int unused; };

struct inode {
	mode_t i_mode;
};

struct file {
	struct inode inode;
	const struct cred *f_cred;
	struct path f_path;
	void *private_data;
};

struct kiocb {
	loff_t ki_pos;
};

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len, bv_offset;
};

/* Where in the vector the next byte is, and how many are left. */
struct iov_iter {
	size_t at, count;
};

#define ITER_SOURCE 1

static inline void iov_iter_bvec(struct iov_iter *iter, unsigned int direction, const struct bio_vec *vector,
				 unsigned long segments, size_t count)
{
	*iter = (struct iov_iter){ .count = count };
}

static inline void iov_iter_advance(struct iov_iter *iter, size_t bytes)
{
	iter->at += bytes;
	iter->count -= bytes;
}

static inline const struct inode *file_inode(const struct file *file)
{
	return &file->inode;
}

#define override_creds(cred) (cred)
#define revert_creds(cred) ((void)(cred))
#define fsnotify_modify(file) ((void)(file))
int vfs_fallocate(struct file *file, int mode, loff_t from, loff_t bytes);
long vfs_truncate(const struct path *path, loff_t bytes);

#endif /* FKT_TEST_KERNEL_H */
