/* SPDX-License-Identifier: GPL-2.0-only */
/* The cgroups that pay for what a kernel thread does for a recording. */
#ifndef FKT_CHARGE_H
#define FKT_CHARGE_H

#include <linux/types.h>

struct cgroup_subsys_state;
struct mem_cgroup;

struct fkt_charge {
	struct mem_cgroup *memory;
	struct cgroup_subsys_state *io;
};

u32 fkt_charge_payer(void);
void fkt_charge_get(struct fkt_charge *charge);
void fkt_charge_put(struct fkt_charge *charge);
void fkt_charge_begin(const struct fkt_charge *charge);
void fkt_charge_end(void);

#endif /* FKT_CHARGE_H */
