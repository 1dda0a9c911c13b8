// SPDX-License-Identifier: GPL-2.0-only
/* Running the programs of instruments (programs.h). */

#include <linux/percpu.h>
#include <linux/uaccess.h>

#include "level.h"
#include "programs.h"

DEFINE_PER_CPU(u32, fkt_hit_depth);
DEFINE_PER_CPU(u8, fkt_hit_calls);
static DEFINE_PER_CPU(struct fkt_scratch [FKT_HITS_DEEP], scratches);

static void __percpu *records;

/* Gives each program room for a tracepoint's own record, unless it has that. Caller must hold the recording's lock. */
int fkt_scratch_records_get(void)
{
	int cpu, level;

	if (records)
		return 0;
	records = __alloc_percpu_gfp(FKT_HITS_DEEP * FKT_RECORD_BYTES, sizeof(u64), GFP_KERNEL_ACCOUNT);
	if (!records)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		for (level = 0; level < FKT_HITS_DEEP; level++) {
			struct fkt_record_room *room = &per_cpu(scratches, cpu)[level].room;

			room->record = per_cpu_ptr(records, cpu) + level * FKT_RECORD_BYTES;
			room->bytes = FKT_RECORD_BYTES;
		}
	}
	return 0;
}

/* Called when no probe that uses a record runs any more. */
void fkt_scratch_records_put(void)
{
	free_percpu(records);
	records = NULL;
}

/*
 * Returns the memory for one program; NULL: the hit is missed, since too many run already, or one of this context has
 * led to it. Caller must call fkt_scratch_put() in both cases.
 */
struct fkt_scratch *fkt_scratch_get(void)
{
	u32 level = this_cpu_inc_return(fkt_hit_depth);
	const u8 calls = this_cpu_read(fkt_hit_calls);

	if (unlikely(level > FKT_HITS_DEEP || (calls && calls & 1 << fkt_level())))
		return NULL;
	return this_cpu_ptr(&scratches[level - 1]);
}

void fkt_scratch_put(void)
{
	this_cpu_dec(fkt_hit_depth);
}

/* Returns the memory of the program that runs. */
struct fkt_scratch *fkt_scratch_now(void)
{
	return this_cpu_ptr(&scratches[this_cpu_read(fkt_hit_depth) - 1]);
}

int fkt_read_memory(void *to, __u64 address, __u32 bytes)
{
	const u8 before = this_cpu_read(fkt_hit_calls);
	int err;

	this_cpu_write(fkt_hit_calls, before | 1 << fkt_level());
	err = copy_from_kernel_nofault(to, (void *)address, bytes);
	this_cpu_write(fkt_hit_calls, before);
	return err;
}
