/* SPDX-License-Identifier: GPL-2.0-only */
/* /proc/kft and /proc/kft_data: fkt has the files, and the module fkt_kft what they do. */
#ifndef FKT_KFT_FILES_H
#define FKT_KFT_FILES_H

#include <linux/fs.h>

/* Implemented in kft/proc.c. Called while the module fkt_kft is held; of files that may be opened. */
struct fkt_kft_files {
	int (*open)(struct file *file);
	ssize_t (*write)(struct file *file, const char __user *from, size_t bytes);
	int (*release)(struct inode *inode, struct file *file);
	int (*open_log)(struct file *file);
	int (*release_log)(struct inode *inode, struct file *file);
};

extern const struct fkt_kft_files fkt_kft_files;

int fkt_kft_files_init(void);
void fkt_kft_files_exit(void);

#endif /* FKT_KFT_FILES_H */
