// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel charges page cache and block I/O to the cgroups of the current task. The drain is a kernel
 * thread in the root cgroups: without this file, a process could fill memory and disks through its
 * recording beyond the limits of its own cgroups. So the drain uses those of the task that called
 * FKT_START, as the loop driver does for the tasks whose I/O it carries out. The memory of a recording itself (rings,
 * tables) is charged to the same cgroup, as all that the module allocates for a caller.
 */

#include <linux/cgroup.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

#include "base/compat.h"
#include "charge.h"

/* Returns a number of the memory cgroup of the current task, not 0. It may be reused when the cgroup is gone. */
u32 fkt_charge_payer(void)
{
	struct mem_cgroup *memory = get_mem_cgroup_from_mm(current->mm);
	const u32 payer = mem_cgroup_id(memory) + 1U;

	mem_cgroup_put(memory);
	return payer;
}

/* Takes references to the cgroups of the current task. */
void fkt_charge_get(struct fkt_charge *charge)
{
	charge->memory = get_mem_cgroup_from_mm(current->mm);
	charge->io = fkt_io_css_get(current);
}

void fkt_charge_put(struct fkt_charge *charge)
{
	mem_cgroup_put(charge->memory);
	charge->memory = NULL;
	if (charge->io)
		css_put(charge->io);
	charge->io = NULL;
}

/* From here on, the current kernel thread charges these cgroups. They must stay until fkt_charge_end(). */
void fkt_charge_begin(const struct fkt_charge *charge)
{
	set_active_memcg(charge->memory);
	kthread_associate_blkcg(charge->io);
}

void fkt_charge_end(void)
{
	kthread_associate_blkcg(NULL);
	set_active_memcg(NULL);
}
