// SPDX-License-Identifier: GPL-2.0-only
/* Running the programs of instruments (programs.h). */

#include <linux/percpu.h>
#include <linux/uaccess.h>

#include "programs.h"

/*
 * Programs that run on this CPU: at most one in a task, a softirq, an interrupt and an NMI. More are of hits that a
 * program made itself, in functions that have instruments, too: they could go on for ever. Writing an event calls such
 * functions only at the end of a page.
 */
#define MOST_DEEP 4
static DEFINE_PER_CPU(u32, depth);
static DEFINE_PER_CPU(struct fkt_scratch [MOST_DEEP], scratches);

/* Returns the memory for one program; NULL: too many run already. Caller must call fkt_scratch_put() in both cases. */
struct fkt_scratch *fkt_scratch_get(void)
{
	u32 level = this_cpu_inc_return(depth);

	return likely(level <= MOST_DEEP) ? this_cpu_ptr(&scratches[level - 1]) : NULL;
}

void fkt_scratch_put(void)
{
	this_cpu_dec(depth);
}

int fkt_read_memory(void *to, __u64 address, __u32 bytes)
{
	return copy_from_kernel_nofault(to, (void *)address, bytes);
}
