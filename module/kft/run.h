/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording that /proc/kft began: from its priming to its end, and then its log. */
#ifndef FKT_KFT_RUN_H
#define FKT_KFT_RUN_H

#include <linux/kref.h>
#include <linux/types.h>

#include <fkt/ioctl.h>

#include "log.h"
#include "plan.h"

struct cred;
struct file;
struct fkt_recording;
struct seq_file;

enum fkt_kft_state {
	FKT_KFT_NEW, /* there is a configuration, which is not primed (yet) */
	FKT_KFT_PRIMED, /* the recording waits for its begin */
	FKT_KFT_TRIGGERED, /* calls are recorded */
	FKT_KFT_COMPLETE,
};

/* What began or ended the recording. */
enum fkt_kft_cause {
	FKT_KFT_BY_NOTHING, /* it has not begun, or has not ended */
	FKT_KFT_BY_HIT,
	FKT_KFT_BY_TIME,
	FKT_KFT_BY_WRITE, /* by a write to /proc/kft */
	FKT_KFT_BY_LENGTH, /* the log has its entries */
	FKT_KFT_BY_ROOM, /* the buffer was full */
};

/* What is done with a recording when its functions have been armed. */
enum fkt_kft_first {
	FKT_KFT_AS_IT_SAYS, /* it is primed now, or when the configuration says it */
	FKT_KFT_PRIME_NOW,
	FKT_KFT_BEGIN_NOW,
};

struct fkt_kft_run {
	struct kref refs;
	struct fkt_kft_plan *plan;
	u64 id;
	struct fkt_recording *recording;
	struct file *owner; /* of the recording; NULL: it is complete */
	struct fkt_clocks clocks; /* when it was primed */
	struct fkt_kft_log log; /* does not change any more when it is complete */
	enum fkt_kft_cause primed_by, begun_by, ended_by;
	u64 begun, ended; /* ticks */
	struct fkt_hit_counts counts; /* of the recorded calls */
	u32 lowest_stack; /* as in struct fkt_status */
};

struct fkt_kft_run *fkt_kft_run_arm(struct fkt_recording *recording, struct fkt_kft_plan *plan, u64 id,
				    const struct cred *opener, enum fkt_kft_first first, u64 *refused);
int fkt_kft_run_prime(struct fkt_kft_run *run);
int fkt_kft_run_begin(struct fkt_kft_run *run);
int fkt_kft_run_end(struct fkt_kft_run *run);
unsigned long fkt_kft_run_look(struct fkt_kft_run *run);
enum fkt_kft_state fkt_kft_run_state(const struct fkt_kft_run *run);
u64 fkt_kft_run_usecs(const struct fkt_kft_run *run, u64 ticks);
u64 fkt_kft_run_since_boot(const struct fkt_kft_run *run, u64 clock);
void fkt_kft_run_put(struct fkt_kft_run *run);

/* text.c */
void fkt_kft_show_status(struct seq_file *m, const struct fkt_kft_plan *plan, const struct fkt_kft_run *run);
int fkt_kft_open_log(struct file *file, struct fkt_kft_run *run);

#endif /* FKT_KFT_RUN_H */
