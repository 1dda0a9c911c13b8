/* SPDX-License-Identifier: GPL-2.0-only */
/* The calls that a recording of /proc/kft has, in memory. */
#ifndef FKT_KFT_LOG_H
#define FKT_KFT_LOG_H

#include <linux/types.h>

struct fkt_page_header;

struct fkt_kft_call {
	u64 begin, ticks; /* of the recording's clock */
	u32 number; /* of the function */
	u32 pid;
	u32 caller; /* number of the function that called it, plus 1; 0: it is not known */
	u16 cpu; /* that it returned on */
	u8 level; /* enum fkt_level */
};

struct fkt_kft_log {
	struct fkt_kft_call *calls;
	u32 count, room;
	/* When a hit began and ended the recording (ticks); 0: none did. */
	u64 begun, ended;
	u64 dropped; /* calls that there was no memory for, or that are beyond the log's length */
};

void fkt_kft_log_add(struct fkt_kft_log *log, const struct fkt_page_header *page);
void fkt_kft_log_finish(struct fkt_kft_log *log, u32 most, bool newest);
void fkt_kft_log_free(struct fkt_kft_log *log);

#endif /* FKT_KFT_LOG_H */
