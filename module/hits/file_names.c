// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files that hits are about (FKT_CONTEXT_FILE). A hit has the number of the inode; an event with the last parts of
 * the path is written when a CPU sees a file for the first time, again after some seconds, so that a flight recorder
 * has it, and when the file is renamed.
 *
 * Called with preemption disabled, in any context, so that dentries and inodes, which are freed after an RCU grace
 * period, stay. A pointer may still be wrong: all memory is read with fkt_read_memory(), so a wrong pointer leads to a
 * wrong number or name, never to a fault.
 */

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>

#include <fkt/events.h>
#include <fkt/program.h>

#include "base/compat.h"
#include "instruments/programs.h"
#include "ring/clock.h"
#include "ring/write.h"
#include "file_names.h"

#define SEEN_BITS 10
#define MOST_DEEP 4 /* names that are being written on a CPU: in a task, a softirq, an interrupt, an NMI */
#define MOST_PARTS 16 /* of a path */
#define TEXT_BYTES 256 /* the longest name and a slash */
#define AGAIN_SHIFT 33 /* a name is written again after 2^33 ticks */

struct names {
	/* Marks of the files that were named. An interrupt finds the old or the new one: each is stored at once. */
	u64 seen[1 << SEEN_BITS];
	u32 depth;
	char text[MOST_DEEP][TEXT_BYTES + 8];
};

/* Set before the first probe runs, cleared after the last one has ended. Protected by the recording's lock. */
static struct names __percpu *names;

#define FETCH(to, from, type, member) \
	fkt_read_memory(&(to), (unsigned long)(from) + offsetof(type, member), sizeof(to))

/* ---- the path of a dentry ---- */

/* Puts the name before `at` of `text`, with a slash before it. Returns where it begins; `at`: it does not fit. */
static u32 prepend(char *text, u32 at, const struct qstr *name)
{
	if (name->len >= at || fkt_read_memory(text + at - name->len, (unsigned long)name->name, name->len))
		return at;
	at -= name->len + 1;
	text[at] = '/';
	return at;
}

/* Returns the path's last parts; they begin with a slash if they are all up to the file system's root. */
static const char *path_of(const struct dentry *dentry, char *text)
{
	u32 at = TEXT_BYTES, parts, before;

	text[at] = '\0';
	for (parts = 0; parts < MOST_PARTS; parts++) {
		struct dentry *parent;
		struct qstr name;

		if (FETCH(parent, dentry, struct dentry, d_parent) || FETCH(name, dentry, struct dentry, d_name))
			break;
		if (parent == dentry)
			return at < TEXT_BYTES ? text + at : "/";
		before = at;
		at = prepend(text, at, &name);
		if (at == before)
			break;
		dentry = parent;
	}
	return at < TEXT_BYTES ? text + at + 1 : "";
}

struct facts {
	u64 ino;
	u32 dev;
	umode_t mode;
};

static int read_facts(const struct inode *inode, struct facts *facts)
{
	struct super_block *sb;
	unsigned long ino;
	dev_t dev;

	if (FETCH(ino, inode, struct inode, i_ino) || FETCH(facts->mode, inode, struct inode, i_mode) ||
	    FETCH(sb, inode, struct inode, i_sb) || FETCH(dev, sb, struct super_block, s_dev))
		return -EFAULT;
	facts->ino = ino;
	facts->dev = dev;
	return 0;
}

static noinline void write_name(const struct dentry *dentry, const struct facts *facts)
{
	const u64 words[] = { facts->dev | (u64)facts->mode << 32, facts->ino };
	struct names *own = this_cpu_ptr(names);
	u32 level = own->depth++;

	/* An interrupt between reading and storing `depth` has restored it when it returns. */
	if (level < MOST_DEEP)
		fkt_emit_string(FKT_E_NAME, words, ARRAY_SIZE(words), path_of(dentry, own->text[level]));
	own->depth--;
}

/* Names the file unless this CPU has done so lately, with the same name in the same folder. */
static void name_once(const struct dentry *dentry, const struct facts *facts)
{
	const u64 odd = 0x9e3779b97f4a7c15ULL; /* 2^64 divided by the golden ratio: spreads all bits upwards */
	struct dentry *parent;
	u64 mark, *seen;
	u64 hash_len;

	if (!names || FETCH(parent, dentry, struct dentry, d_parent) ||
	    FETCH(hash_len, dentry, struct dentry, d_name.hash_len))
		return;
	mark = (facts->ino + ((u64)facts->dev << 32)) * odd;
	mark = (mark ^ mark >> 32 ^ hash_len) * odd;
	mark = (mark ^ mark >> 32 ^ (unsigned long)parent ^ fkt_clock() >> AGAIN_SHIFT) * odd;
	mark |= 1; /* 0: nothing was seen */
	seen = &this_cpu_ptr(names)->seen[mark >> (64 - SEEN_BITS)];
	if (READ_ONCE(*seen) == mark)
		return;
	WRITE_ONCE(*seen, mark);
	write_name(dentry, facts);
}

/* ---- from the word of a hit to the file; 0: there is none ---- */

static u64 of_dentry(const struct dentry *dentry)
{
	struct inode *inode;
	struct facts facts;

	if (FETCH(inode, dentry, struct dentry, d_inode) || !inode || read_facts(inode, &facts))
		return 0;
	name_once(dentry, &facts);
	return facts.ino;
}

/* Uses one of the inode's names. */
static u64 of_inode(const struct inode *inode)
{
	struct hlist_node *first;
	struct facts facts;

	if (!inode || read_facts(inode, &facts))
		return 0;
	if (!FETCH(first, inode, struct inode, i_dentry.first) && first)
		name_once(container_of(first, struct dentry, FKT_D_ALIAS), &facts);
	return facts.ino;
}

static u64 of_mapping(const struct address_space *mapping)
{
	struct inode *host;

	return FETCH(host, mapping, struct address_space, host) ? 0 : of_inode(host);
}

static u64 of_file(const struct file *file)
{
	struct dentry *dentry;

	return FETCH(dentry, file, struct file, f_path.dentry) ? 0 : of_dentry(dentry);
}

static u64 of_mapped(const struct vm_area_struct *vma)
{
	struct file *file;

	return FETCH(file, vma, struct vm_area_struct, vm_file) || !file ? 0 : of_file(file);
}

static u64 of_fault(const struct vm_fault *fault)
{
	struct vm_area_struct *vma;

	return FETCH(vma, fault, struct vm_fault, vma) ? 0 : of_mapped(vma);
}

/*
 * The page cache knows the file of a page. Pages that are not in it have other data in the same place: so the inode
 * must refer back to the mapping, and be that of a file (not of a disk, whose pages are the file systems' own data).
 */
static u64 of_page(const struct page *page)
{
	struct address_space *mapping, *back;
	unsigned long head;
	struct inode *host;
	umode_t mode;

	if (FETCH(head, page, struct page, FKT_COMPOUND_INFO))
		return 0;
	if (head & 1)
		page = fkt_compound_head(page, head);
	if (FETCH(mapping, page, struct page, mapping) || !mapping || (unsigned long)mapping & FKT_MAPPING_FLAGS)
		return 0;
	if (FETCH(host, mapping, struct address_space, host) || FETCH(back, host, struct inode, i_mapping) ||
	    FETCH(mode, host, struct inode, i_mode))
		return 0;
	return back == mapping && !S_ISBLK(mode) ? of_inode(host) : 0;
}

static u64 of_bio(const struct bio *bio)
{
	struct bio_vec *vec;
	struct page *page;
	u32 index;

	if (!bio || FETCH(vec, bio, struct bio, bi_io_vec) || !vec || FETCH(index, bio, struct bio, bi_iter.bi_idx))
		return 0;
	return FETCH(page, vec + index, struct bio_vec, bv_page) ? 0 : of_page(page);
}

static u64 of_request(const struct request *rq)
{
	struct bio *bio;

	return FETCH(bio, rq, struct request, bio) ? 0 : of_bio(bio);
}

/* Returns the inode number of the file to which `pointer` leads, and names it; 0: none. kind: enum fkt_file_of. */
u64 fkt_file_number(u64 pointer, u32 kind)
{
	const void *from = (const void *)pointer;
	struct address_space *mapping;
	struct dentry *dentry;
	struct file *file;

	switch (kind) {
	case FKT_FILE_OF_FILE:
		return of_file(from);
	case FKT_FILE_OF_PATH:
		return FETCH(dentry, from, struct path, dentry) ? 0 : of_dentry(dentry);
	case FKT_FILE_OF_DENTRY:
		return of_dentry(from);
	case FKT_FILE_OF_INODE:
		return of_inode(from);
	case FKT_FILE_OF_MAPPING:
		return of_mapping(from);
	case FKT_FILE_OF_IOCB:
		return FETCH(file, from, struct kiocb, ki_filp) ? 0 : of_file(file);
	case FKT_FILE_OF_FAULT:
		return of_fault(from);
	case FKT_FILE_OF_READAHEAD:
		return FETCH(mapping, from, struct readahead_control, mapping) ? 0 : of_mapping(mapping);
	case FKT_FILE_OF_BIO:
		return of_bio(from);
	case FKT_FILE_OF_REQUEST:
		return of_request(from);
	case FKT_FILE_OF_MAPPED:
		return of_mapped(from);
	}
	return 0;
}

/* ---- begin and end; callers must hold the recording's lock, and no probe runs ---- */

int fkt_names_begin(void)
{
	if (!names)
		names = alloc_percpu_gfp(struct names, GFP_KERNEL_ACCOUNT);
	return names ? 0 : -ENOMEM;
}

/* Does nothing if fkt_names_begin() was not called. */
void fkt_names_end(void)
{
	free_percpu(names);
	names = NULL;
}
