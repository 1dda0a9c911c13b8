/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a configuration of KFT (kft_config.h) means, for the kernel and the tools alike: which of the parts that select
 * functions has a function's calls, and the limits within which they are recorded.
 */
#ifndef FKT_KFT_RULES_H
#define FKT_KFT_RULES_H

#include <fkt/call_hit.h>
#include <fkt/kft_config.h>

static inline int fkt_kft_is_by_hit(const struct fkt_kft_trigger *trigger)
{
	return trigger->moment == FKT_KFT_ENTRY || trigger->moment == FKT_KFT_EXIT;
}

/* Returns whether the recording is primed after its functions are armed, by a hit or at a time. */
static inline int fkt_kft_is_primed_late(const struct fkt_kft_config *config)
{
	return config->prime.moment != FKT_KFT_NEVER && config->prime.moment != FKT_KFT_NOW;
}

/* ---- groups ---- */

/* Returns what a group of the configuration selects; NULL: all functions. */
static inline const struct fkt_kft_function *fkt_kft_group(const struct fkt_kft_config *config, __u32 group)
{
	return config->groups[group] < config->function_count ? &config->functions[config->groups[group]] : NULL;
}

/*
 * Returns the rank of what selects functions. Those with their own minima come first, then single names, then longer
 * patterns; a module is like the pattern `*`, and so is NULL, all functions.
 */
static inline __u32 fkt_kft_rank(const struct fkt_kft_function *function)
{
	const __u32 first = function && function->has_mintime ? 0 : 2 * FKT_KFT_TEXT_BYTES;
	const __u32 bytes = function && function->kind == FKT_KFT_NAME ? function->word.bytes : 1;

	return first + (!function || function->is_pattern ? 2 * FKT_KFT_TEXT_BYTES - bytes : 0);
}

/* Sets the groups of a configuration that is complete otherwise. Equal ranks stay in the order of the text. */
static inline void fkt_kft_order_groups(struct fkt_kft_config *config)
{
	__u32 i, at;

	for (i = 0; i <= config->function_count; i++) {
		const struct fkt_kft_function *function = i < config->function_count ? &config->functions[i] : NULL;

		if (function ? function->is_left_out : fkt_kft_says(config, FKT_KFT_FUNCLIST))
			continue;
		at = config->group_count++;
		for (; at && fkt_kft_rank(fkt_kft_group(config, at - 1)) > fkt_kft_rank(function); at--)
			config->groups[at] = config->groups[at - 1];
		config->groups[at] = i;
	}
}

/* ---- limits ---- */

/* A limit of what is recorded: the value is from `least` to `most`, or of FKT_KFT_TASK the task's name fits. */
struct fkt_kft_limit {
	__u32 key; /* enum fkt_kft_key: the statement that sets it */
	__u8 from; /* enum fkt_from */
	__u8 index;
	__u64 least, most; /* times in ns; most ~0: there is none */
};

#define FKT_KFT_LIMITS 12 /* of one group, at most */

/* Returns whether the value is a time. from: enum fkt_from. */
static inline int fkt_kft_is_time(__u8 from, __u8 index)
{
	return from == FKT_FROM_WORD ? index == FKT_CALL_DURATION || index == FKT_CALL_CPUTIME :
				       index == FKT_CONTEXT_SINCE_START;
}

/* Sets the limits for functions with this minimum (ns; 0: none). Returns how many they are. */
static inline __u32 fkt_kft_limits(const struct fkt_kft_config *config, __u64 mintime, struct fkt_kft_limit *limits)
{
	const __u8 time = fkt_kft_says(config, FKT_KFT_CPUTIME) ? FKT_CALL_CPUTIME : FKT_CALL_DURATION;
	const __u8 hit = FKT_FROM_CONTEXT, call = FKT_FROM_WORD;
	const struct fkt_kft_limit all[FKT_KFT_LIMITS] = {
		{ FKT_KFT_AUTOREPEAT, hit, FKT_CONTEXT_FLAG, 1, 1 },
		{ FKT_KFT_CALLER, hit, FKT_CONTEXT_TASK_FLAG, 1, 1 },
		{ FKT_KFT_MAXTIME, call, time, 0, config->maxtime },
		{ FKT_KFT_DEPTH, call, FKT_CALL_DEPTH, 0, config->depth },
		{ FKT_KFT_NOINTS, hit, FKT_CONTEXT_LEVEL, FKT_LEVEL_TASK, FKT_LEVEL_TASK },
		{ FKT_KFT_ONLYINTS, hit, FKT_CONTEXT_LEVEL, FKT_LEVEL_SOFTIRQ, FKT_LEVEL_NMI },
		{ FKT_KFT_CPU, hit, FKT_CONTEXT_CPU, config->cpu, config->cpu },
		{ FKT_KFT_TASK, hit, FKT_CONTEXT_TASK, 0, 0 },
		{ FKT_KFT_UID, hit, FKT_CONTEXT_UID, config->uid, config->uid },
		{ FKT_KFT_CGROUP, hit, FKT_CONTEXT_CGROUP, config->cgroup, config->cgroup },
		{ FKT_KFT_STOP, hit, FKT_CONTEXT_SINCE_START, 0, config->stop.time },
		{ FKT_KFT_MINTIME, call, time, mintime, ~0ULL },
	};
	__u32 i, n = 0;

	for (i = 0; i < FKT_KFT_LIMITS; i++) {
		const __u32 key = all[i].key;

		/* A group may have its own minimum; 0 is no limit; not every stop is a time. */
		if (key == FKT_KFT_MINTIME ? mintime != 0 :
		    key == FKT_KFT_MAXTIME ? config->maxtime != 0 :
		    key == FKT_KFT_STOP ? config->stop.moment == FKT_KFT_TIME :
					  fkt_kft_says(config, (enum fkt_kft_key)key))
			limits[n++] = all[i];
	}
	return n;
}

#endif /* FKT_KFT_RULES_H */
