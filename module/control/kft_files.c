// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/kft and /proc/kft_data. The first open loads the module fkt_kft, which does the work; each open file holds it.
 */

#include <linux/capability.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/user_namespace.h>

#include "kft_files.h"

/*
 * Written at each open, read by calls on open files. Lockless: while a file is open the module stays, and all opens
 * write the same address.
 */
static const struct fkt_kft_files *files;

/* Holds the module fkt_kft for an open file. -ENOPKG: there is none. */
static int hold(const struct file *file)
{
	const struct fkt_kft_files *found;

	if (!file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;
	found = symbol_get(fkt_kft_files);
	if (!found) {
		request_module("fkt_kft");
		found = symbol_get(fkt_kft_files);
	}
	if (!found)
		return -ENOPKG;
	WRITE_ONCE(files, found);
	return 0;
}

static int kft_open(struct inode *inode, struct file *file)
{
	int err = hold(file);

	if (err)
		return err;
	err = READ_ONCE(files)->open(file);
	if (err)
		symbol_put(fkt_kft_files);
	return err;
}

static ssize_t kft_write(struct file *file, const char __user *from, size_t bytes, loff_t *unused)
{
	return READ_ONCE(files)->write(file, from, bytes);
}

static int kft_release(struct inode *inode, struct file *file)
{
	int err = READ_ONCE(files)->release(inode, file);

	symbol_put(fkt_kft_files);
	return err;
}

static const struct proc_ops kft_ops = {
	.proc_open = kft_open,
	.proc_read_iter = seq_read_iter,
	.proc_write = kft_write,
	.proc_lseek = seq_lseek,
	.proc_release = kft_release,
};

static int log_open(struct inode *inode, struct file *file)
{
	int err = hold(file);

	if (err)
		return err;
	err = READ_ONCE(files)->open_log(file);
	if (err)
		symbol_put(fkt_kft_files);
	return err;
}

static int log_release(struct inode *inode, struct file *file)
{
	int err = READ_ONCE(files)->release_log(inode, file);

	symbol_put(fkt_kft_files);
	return err;
}

static const struct proc_ops log_ops = {
	.proc_open = log_open,
	.proc_read_iter = seq_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = log_release,
};

/* Called when a recording can begin. */
int fkt_kft_files_init(void)
{
	if (!IS_ENABLED(CONFIG_PROC_FS))
		return 0;
	if (!proc_create("kft", 0600, NULL, &kft_ops))
		return -ENOMEM;
	if (proc_create("kft_data", 0400, NULL, &log_ops))
		return 0;
	remove_proc_entry("kft", NULL);
	return -ENOMEM;
}

/* No file is open: it would hold fkt_kft, which needs this module. */
void fkt_kft_files_exit(void)
{
	if (!IS_ENABLED(CONFIG_PROC_FS))
		return;
	remove_proc_entry("kft", NULL);
	remove_proc_entry("kft_data", NULL);
}
