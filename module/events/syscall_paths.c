// SPDX-License-Identifier: GPL-2.0-only
/*
 * The paths that system calls are given, for recordings with arguments. Called by probes, with preemption disabled: a
 * page that is not in memory cannot be waited for. The call itself waits for it, so the path is read again at its end.
 */

#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/unistd.h>
#ifdef CONFIG_IA32_EMULATION
#include <asm/unistd_32_ia32.h>
#endif

#include "syscall_paths.h"

/* Not in the headers of older kernels, where these calls fail. */
enum {
	NR_FCHMODAT2 = 452,
	NR_SETXATTRAT = 463,
	NR_GETXATTRAT = 464,
	NR_LISTXATTRAT = 465,
	NR_REMOVEXATTRAT = 466,
	NR_OPEN_TREE_ATTR = 467,
	NR_FILE_GETATTR = 468,
	NR_FILE_SETATTR = 469,
};

/* Number of the argument that is a path, from 1; the first one of two paths; 0: there is none. */
static const u8 arguments[] = {
	[__NR_open] = 1, [__NR_stat] = 1, [__NR_lstat] = 1, [__NR_access] = 1, [__NR_execve] = 1, [__NR_truncate] = 1,
	[__NR_chdir] = 1, [__NR_rename] = 1, [__NR_mkdir] = 1, [__NR_rmdir] = 1, [__NR_creat] = 1, [__NR_link] = 1,
	[__NR_unlink] = 1, [__NR_symlink] = 1, [__NR_readlink] = 1, [__NR_chmod] = 1, [__NR_chown] = 1,
	[__NR_lchown] = 1, [__NR_utime] = 1, [__NR_mknod] = 1, [__NR_statfs] = 1, [__NR_pivot_root] = 1,
	[__NR_chroot] = 1, [__NR_acct] = 1, [__NR_mount] = 2, [__NR_umount2] = 1, [__NR_swapon] = 1, [__NR_swapoff] = 1,
	[__NR_setxattr] = 1, [__NR_lsetxattr] = 1, [__NR_getxattr] = 1, [__NR_lgetxattr] = 1, [__NR_listxattr] = 1,
	[__NR_llistxattr] = 1, [__NR_removexattr] = 1, [__NR_lremovexattr] = 1, [__NR_utimes] = 1,
	[__NR_inotify_add_watch] = 2, [__NR_openat] = 2, [__NR_mkdirat] = 2, [__NR_mknodat] = 2, [__NR_fchownat] = 2,
	[__NR_futimesat] = 2, [__NR_newfstatat] = 2, [__NR_unlinkat] = 2, [__NR_renameat] = 2, [__NR_linkat] = 2,
	[__NR_symlinkat] = 1, [__NR_readlinkat] = 2, [__NR_fchmodat] = 2, [__NR_faccessat] = 2, [__NR_utimensat] = 2,
	[__NR_name_to_handle_at] = 2, [__NR_renameat2] = 2, [__NR_execveat] = 2, [__NR_statx] = 2, [__NR_openat2] = 2,
	[__NR_faccessat2] = 2, [__NR_open_tree] = 2, [__NR_move_mount] = 2, [__NR_fspick] = 2, [__NR_mount_setattr] = 2,
	[NR_FCHMODAT2] = 2, [NR_SETXATTRAT] = 2, [NR_GETXATTRAT] = 2, [NR_LISTXATTRAT] = 2, [NR_REMOVEXATTRAT] = 2,
	[NR_OPEN_TREE_ATTR] = 2, [NR_FILE_GETATTR] = 2, [NR_FILE_SETATTR] = 2,
};

#ifdef CONFIG_IA32_EMULATION
static const u8 arguments32[] = {
	[__NR_ia32_open] = 1, [__NR_ia32_stat] = 1, [__NR_ia32_lstat] = 1, [__NR_ia32_stat64] = 1,
	[__NR_ia32_lstat64] = 1,
	[__NR_ia32_access] = 1, [__NR_ia32_execve] = 1, [__NR_ia32_truncate] = 1, [__NR_ia32_chdir] = 1,
	[__NR_ia32_rename] = 1, [__NR_ia32_mkdir] = 1, [__NR_ia32_rmdir] = 1, [__NR_ia32_creat] = 1,
	[__NR_ia32_link] = 1,
	[__NR_ia32_unlink] = 1, [__NR_ia32_symlink] = 1, [__NR_ia32_readlink] = 1, [__NR_ia32_chmod] = 1,
	[__NR_ia32_statfs] = 1, [__NR_ia32_openat] = 2, [__NR_ia32_mkdirat] = 2, [__NR_ia32_fstatat64] = 2,
	[__NR_ia32_unlinkat] = 2, [__NR_ia32_renameat] = 2, [__NR_ia32_readlinkat] = 2, [__NR_ia32_fchmodat] = 2,
	[__NR_ia32_faccessat] = 2, [__NR_ia32_execveat] = 2, [__NR_ia32_statx] = 2, [__NR_ia32_openat2] = 2,
};
#endif

/* Returns the number of the argument that is a path, from 1; 0: there is none. */
u32 fkt_path_argument(long nr, bool is_ia32)
{
#ifdef CONFIG_IA32_EMULATION
	if (is_ia32)
		return (unsigned long)nr < ARRAY_SIZE(arguments32) ? arguments32[nr] : 0;
#endif
	return (unsigned long)nr < ARRAY_SIZE(arguments) ? arguments[nr] : 0;
}

/*
 * Reads the path at `address` of user memory to `words`, FKT_PATH_WORDS of them, padded with zeros; `used`: words that
 * it takes. Each read is within a word of memory, so that none touches a page which the path does not reach.
 */
enum fkt_path_read fkt_read_path(u64 *words, u32 *used, unsigned long address)
{
	char *text = (char *)words;
	u32 at = 0, step, end;

	for (;;) {
		step = min_t(u32, sizeof(u64) - ((address + at) & (sizeof(u64) - 1)),
			     FKT_PATH_WORDS * sizeof(u64) - at);
		if (!step) {
			*used = FKT_PATH_WORDS;
			return FKT_PATH_CUT;
		}
		if (copy_from_user_nofault(text + at, (const void __user *)(address + at), step))
			return FKT_PATH_UNREAD;
		end = at + strnlen(text + at, step);
		at += step;
		if (end < at)
			break;
	}
	*used = end / sizeof(u64) + 1;
	memset(text + end, 0, *used * sizeof(u64) - end);
	return FKT_PATH_WHOLE;
}

/*
 * Threads in calls whose path was not read at the begin. Lockless: each store is one word; two threads in one place at
 * a time are rare, and the first of them then has no path.
 */
static struct task_struct *unread[1 << 6];

static struct task_struct **place_of_current(void)
{
	return &unread[hash_ptr(current, ilog2(ARRAY_SIZE(unread)))];
}

/* Notes that the current thread's path was not read. */
void fkt_path_later(void)
{
	WRITE_ONCE(*place_of_current(), current);
}

/* Returns whether the current thread's path was not read, and forgets that. */
bool fkt_path_was_unread(void)
{
	struct task_struct **place = place_of_current();

	if (READ_ONCE(*place) != current)
		return false;
	WRITE_ONCE(*place, NULL);
	return true;
}
