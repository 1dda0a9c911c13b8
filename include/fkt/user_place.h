/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Places in user programs, as arguments of FKT_START and FKT_EXCHANGE (ioctl.h): fkt_instruments.users. */
#ifndef FKT_USER_PLACE_H
#define FKT_USER_PLACE_H

#include <linux/types.h>

#define FKT_USERS_MOST 4096
#define FKT_USER_NUMBERS (1U << 13)

enum fkt_user_how {
	/* the event is that the function's first instruction is reached; the second program has no instructions */
	FKT_USER_REACHED = 0,
	FKT_USER_PROBE = 1, /* as above, at a probe that the program contains (USDT) */
	/* the instruction is a function's first one; the event is its whole call; it may have a second program */
	FKT_USER_CALL = 2,
	FKT_USER_EXIT = 3, /* as FKT_USER_CALL, but the event is the exit */
	FKT_USER_HOWS = 4,
};

/* A place in a program or a library: hits are seen in every process that maps the file. */
struct fkt_user {
	__u64 offset; /* of the instruction in the file (bytes) */
	/* File offset of the probe's 16-bit semaphore (USDT): incremented in each process while recorded; 0: none. */
	__u64 counter;
	__s32 file; /* descriptor of the file, which is open for reading; it may be closed afterwards */
	__u32 number; /* in its events; below FKT_USER_NUMBERS */
	__u16 program; /* which pair of fkt_users.programs decides and fetches values (user_hit.h) */
	__u16 instrument; /* index */
	__u32 how; /* enum fkt_user_how */
};

struct fkt_users {
	__u64 places; /* user pointer to struct fkt_user[count] */
	__u64 programs; /* user pointer to pairs of programs, one behind the other */
	__u32 count; /* 1 to FKT_USERS_MOST */
	__u32 program_bytes; /* of all programs; at most FKT_CALLS_PROGRAM_BYTES */
	__u32 program_count; /* pairs */
	__u32 pad;
};

#endif /* FKT_USER_PLACE_H */
