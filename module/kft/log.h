/* SPDX-License-Identifier: GPL-2.0-only */
/* The log of a recording of /proc/kft, in memory. */
#ifndef FKT_KFT_LOG_H
#define FKT_KFT_LOG_H

#include <linux/mutex.h>
#include <linux/types.h>

struct fkt_kft_symbols;
struct fkt_page_header;

enum fkt_kft_kind {
	FKT_KFT_WHOLE, /* a call that has returned */
	FKT_KFT_ENTERED, /* with `untimed`: an entry, and an exit */
	FKT_KFT_LEFT,
	FKT_KFT_FRAME, /* of a stack of `watch` */
};

/* A line of the log. */
struct fkt_kft_call {
	u64 begin; /* ticks of the recording's clock; of an entry, an exit and a frame: when it was */
	union {
		u64 ticks; /* of a whole call: its duration */
		u64 sequence; /* of an entry or exit: its order among those of one CPU */
		u64 name; /* of a frame: place of its function's name in the log's names */
	};
	u32 number; /* of the function; of a frame: number of outer frames in its stack */
	u32 pid;
	u32 caller; /* number of the calling function, plus 1; 0: unknown */
	u16 cpu; /* on which it returned */
	u8 level; /* enum fkt_level */
	u8 kind; /* enum fkt_kft_kind */
};

#define FKT_KFT_NAME_CHAINS 1024

/*
 * Names of the functions in stacks, each kept once. They are looked up soon after the stack was taken, because its
 * modules may be unloaded while the log is kept.
 */
struct fkt_kft_names {
	char *text; /* the names; before each, the place of the next one in its chain (u32) */
	u32 bytes, room;
	u32 first[FKT_KFT_NAME_CHAINS]; /* places of names; 0: none */
	/* Addresses that were looked up since fkt_kft_log_refresh(), and the places of their names; 0: none. */
	struct {
		u64 address;
		u32 name;
	} known[FKT_KFT_NAME_CHAINS];
};

#define FKT_KFT_LEVELS 4 /* of enum fkt_level */

/* Watched entries of a CPU that wait for their stacks: one in a task, and those in interrupts on top of it. */
struct fkt_kft_watched {
	u32 count;
	struct fkt_kft_call entries[FKT_KFT_LEVELS];
};

struct fkt_kft_log {
	const struct fkt_kft_symbols *symbols;
	struct fkt_kft_watched *watched; /* by CPU; NULL: nothing is watched */
	struct fkt_kft_names *names; /* as above */
	struct fkt_kft_call *calls;
	u32 count, room;
	u32 most; /* lines that stay: those that ended first, or with `newest` last */
	bool newest;
	struct mutex lock; /* against other readers that sort the lines of a complete log */
	bool is_sorted;
	u64 seen; /* lines so far */
	/* When a hit primed, began and ended the recording (ticks); 0: none did. */
	u64 primed, begun, ended;
	u64 dropped; /* lines beyond the log's length */
};

int fkt_kft_log_begin(struct fkt_kft_log *log, const struct fkt_kft_symbols *symbols, u32 most, bool newest,
		      bool watches);
void fkt_kft_log_refresh(struct fkt_kft_log *log);
void fkt_kft_log_add(struct fkt_kft_log *log, const struct fkt_page_header *page);
void fkt_kft_log_finish(struct fkt_kft_log *log);
int fkt_kft_log_sort(struct fkt_kft_log *log);
const char *fkt_kft_log_name(const struct fkt_kft_log *log, const struct fkt_kft_call *frame);
void fkt_kft_log_free(struct fkt_kft_log *log);

#endif /* FKT_KFT_LOG_H */
