/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A configuration of KFT (fkt-kft(5)) as kft_parse.h makes it from its text. Nothing is copied: names are places in
 * the text, which must stay as long as the configuration.
 */
#ifndef FKT_KFT_CONFIG_H
#define FKT_KFT_CONFIG_H

#include <linux/types.h>

#define FKT_KFT_TEXT_BYTES (1U << 16) /* of a configuration, at most */
#define FKT_KFT_FUNCTIONS 512 /* in all its lists, at most */
#define FKT_KFT_ERROR_BYTES 256

/* A part of the text. bytes 0: there is none. Lines and columns count from 1. */
struct fkt_kft_word {
	__u32 at, bytes;
	__u32 line, column;
};

enum fkt_kft_function_kind {
	FKT_KFT_NAME, /* a name; in lists, with `*` and `?`, many */
	FKT_KFT_ADDRESS,
	FKT_KFT_MODULE, /* all functions of the module with this name; in lists only */
};

struct fkt_kft_function {
	struct fkt_kft_word word; /* the name, without `!` and `:mod:` */
	__u64 address; /* of FKT_KFT_ADDRESS */
	__u64 mintime; /* ns; of functions that have their own minimum */
	__u8 kind; /* enum fkt_kft_function_kind */
	__u8 is_left_out; /* 1: `!` stands before it */
	__u8 is_pattern; /* 1: in lists: it is a pattern or a module */
	__u8 has_mintime; /* 1: it is not in the list of functions, but has its own minimum */
};

enum fkt_kft_moment {
	FKT_KFT_NEVER, /* the configuration has no such trigger */
	FKT_KFT_ENTRY,
	FKT_KFT_EXIT,
	FKT_KFT_TIME,
	FKT_KFT_NOW, /* of `prime`: without another moment */
};

struct fkt_kft_trigger {
	__u32 moment; /* enum fkt_kft_moment */
	struct fkt_kft_function function;
	__u64 time; /* ns since the machine's start; of a stop: since the recording's begin */
	/* of FKT_KFT_ENTRY and FKT_KFT_EXIT: an expression that the hit must fulfil; the rest of the line */
	struct fkt_kft_word condition;
};

/* Statements that a configuration may have at most once, in the order in which they are explained. */
enum fkt_kft_key {
	FKT_KFT_PRIME,
	FKT_KFT_START,
	FKT_KFT_STOP,
	FKT_KFT_AUTOREPEAT,
	FKT_KFT_MINTIME,
	FKT_KFT_MAXTIME,
	FKT_KFT_CPUTIME,
	FKT_KFT_NOINTS,
	FKT_KFT_ONLYINTS,
	FKT_KFT_FUNCLIST,
	FKT_KFT_OWN_MINTIMES, /* may be there several times; the first one's place */
	FKT_KFT_CALLER,
	FKT_KFT_DEPTH,
	FKT_KFT_KEEP,
	FKT_KFT_CPU,
	FKT_KFT_TASK,
	FKT_KFT_UID,
	FKT_KFT_CGROUP,
	FKT_KFT_LOGENTRIES,
	FKT_KFT_OVERWRITE,
	FKT_KFT_UNTIMED,
	FKT_KFT_WATCH,
	FKT_KFT_KEYS,
};

struct fkt_kft_config {
	/* By statement: its keyword in the text. bytes 0: the configuration does not have it. */
	struct fkt_kft_word said[FKT_KFT_KEYS];
	struct fkt_kft_trigger prime, start, stop;
	__u64 mintime, maxtime; /* ns; 0: no limit */
	struct fkt_kft_function caller;
	struct fkt_kft_word task; /* its name */
	__u64 depth;
	__u64 keep_depth; /* of callees of slow calls; 0: all */
	__u64 keep_percent; /* of the slow call's time, that a callee has at least; 0: all */
	__u64 cpu, uid, cgroup; /* cgroup: its number */
	__u64 logentries;
	__u64 stack; /* bytes left, below which the call stack is recorded */
	__u8 is_worst_stack; /* 1: each time the bytes left then are the new limit */
	__u32 function_count;
	__u32 group_count;
	struct fkt_kft_function functions[FKT_KFT_FUNCTIONS]; /* only so many are set */
	/*
	 * What selects the recorded functions: numbers of `functions`; function_count: all functions. A function that
	 * fits several belongs to the first of them.
	 */
	__u16 groups[FKT_KFT_FUNCTIONS + 1];
};

struct fkt_kft_error {
	__u32 line, column;
	char message[FKT_KFT_ERROR_BYTES]; /* what is wrong, and what would be right; zero-terminated */
};

/* Returns whether the configuration has the statement. */
static inline int fkt_kft_says(const struct fkt_kft_config *config, enum fkt_kft_key key)
{
	return config->said[key].bytes != 0;
}

#endif /* FKT_KFT_CONFIG_H */
