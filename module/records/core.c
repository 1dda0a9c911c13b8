// SPDX-License-Identifier: GPL-2.0-only
/* Records of the events of scheduler, interrupts, timers, memory and processors (expand.h). */

#include "left_out"

#if __has_include(<linux/mm.h>)
#include <linux/mm.h>
#endif
#if __has_include(<linux/mm_inline.h>)
#include <linux/mm_inline.h>
#endif
#if __has_include(<linux/swap.h>)
#include <linux/swap.h>
#endif
#if __has_include(<linux/hrtimer.h>)
#include <linux/hrtimer.h>
#endif
#if __has_include(<linux/pagemap.h>)
#include <linux/pagemap.h>
#endif
#if __has_include(<linux/memcontrol.h>)
#include <linux/memcontrol.h>
#endif
#if __has_include(<linux/iommu.h>)
#include <linux/iommu.h>
#endif
#if __has_include(<linux/swiotlb.h>)
#include <linux/swiotlb.h>
#endif

#include "group.h"

#if __has_include(<trace/events/alarmtimer.h>)
#define FKT_HEADER <trace/events/alarmtimer.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/bpf_test_run.h>)
#define FKT_HEADER <trace/events/bpf_test_run.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/cgroup.h>)
#define FKT_HEADER <trace/events/cgroup.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/cma.h>)
#define FKT_HEADER <trace/events/cma.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/compaction.h>)
#define FKT_HEADER <trace/events/compaction.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/context_tracking.h>)
#define FKT_HEADER <trace/events/context_tracking.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/cpuhp.h>)
#define FKT_HEADER <trace/events/cpuhp.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/csd.h>)
#define FKT_HEADER <trace/events/csd.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/damon.h>)
#define FKT_HEADER <trace/events/damon.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/error_report.h>)
#define FKT_HEADER <trace/events/error_report.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/huge_memory.h>)
#define FKT_HEADER <trace/events/huge_memory.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/initcall.h>)
#define FKT_HEADER <trace/events/initcall.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/iommu.h>)
#define FKT_HEADER <trace/events/iommu.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/ipi.h>)
#define FKT_HEADER <trace/events/ipi.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/irq.h>)
#define FKT_HEADER <trace/events/irq.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/kmem.h>)
#define FKT_HEADER <trace/events/kmem.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/lock.h>)
#define FKT_HEADER <trace/events/lock.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/maple_tree.h>)
#define FKT_HEADER <trace/events/maple_tree.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/mce.h>)
#define FKT_HEADER <trace/events/mce.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/migrate.h>)
#define FKT_HEADER <trace/events/migrate.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/mmap.h>)
#define FKT_HEADER <trace/events/mmap.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/mmap_lock.h>)
#define FKT_HEADER <trace/events/mmap_lock.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/module.h>)
#define FKT_HEADER <trace/events/module.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/nmi.h>)
#define FKT_HEADER <trace/events/nmi.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/notifier.h>)
#define FKT_HEADER <trace/events/notifier.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/oom.h>)
#define FKT_HEADER <trace/events/oom.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/osnoise.h>)
#define FKT_HEADER <trace/events/osnoise.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/page_isolation.h>)
#define FKT_HEADER <trace/events/page_isolation.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/page_pool.h>)
#define FKT_HEADER <trace/events/page_pool.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/page_ref.h>)
#define FKT_HEADER <trace/events/page_ref.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/pagemap.h>)
#define FKT_HEADER <trace/events/pagemap.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/percpu.h>)
#define FKT_HEADER <trace/events/percpu.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/power.h>)
#define FKT_HEADER <trace/events/power.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/preemptirq.h>)
#define FKT_HEADER <trace/events/preemptirq.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/printk.h>)
#define FKT_HEADER <trace/events/printk.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/rcu.h>)
#define FKT_HEADER <trace/events/rcu.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/rpm.h>)
#define FKT_HEADER <trace/events/rpm.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/rseq.h>)
#define FKT_HEADER <trace/events/rseq.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/sched.h>)
#define FKT_HEADER <trace/events/sched.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/sched_ext.h>)
#define FKT_HEADER <trace/events/sched_ext.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/signal.h>)
#define FKT_HEADER <trace/events/signal.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/swiotlb.h>)
#define FKT_HEADER <trace/events/swiotlb.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/syscalls.h>)
#define FKT_HEADER <trace/events/syscalls.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/task.h>)
#define FKT_HEADER <trace/events/task.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/thermal.h>)
#define FKT_HEADER <trace/events/thermal.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/thp.h>)
#define FKT_HEADER <trace/events/thp.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/timer.h>)
#define FKT_HEADER <trace/events/timer.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/tlb.h>)
#define FKT_HEADER <trace/events/tlb.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/vmalloc.h>)
#define FKT_HEADER <trace/events/vmalloc.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/vmscan.h>)
#define FKT_HEADER <trace/events/vmscan.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/watchdog.h>)
#define FKT_HEADER <trace/events/watchdog.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/workqueue.h>)
#define FKT_HEADER <trace/events/workqueue.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/xdp.h>)
#define FKT_HEADER <trace/events/xdp.h>
#include "expand.h"
#endif

#if __has_include(<asm/trace/exceptions.h>)
#define FKT_HEADER <asm/trace/exceptions.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/exceptions.h>)
#define FKT_HEADER <trace/events/exceptions.h>
#include "expand.h"
#endif

#if __has_include(<asm/trace/fpu.h>)
#define FKT_HEADER <asm/trace/fpu.h>
#include "expand.h"
#endif

#if __has_include(<asm/trace/irq_vectors.h>)
#define FKT_HEADER <asm/trace/irq_vectors.h>
#include "expand.h"
#endif

#if __has_include(<ras/ras_event.h>)
#define FKT_HEADER <ras/ras_event.h>
#include "expand.h"
#endif
