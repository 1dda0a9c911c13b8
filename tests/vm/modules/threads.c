// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates threads of all kinds when the parameter `make` is written, that live until the module is unloaded: the
 * kernel's
 * workers, by works that sleep at the same time, kthread workers, and threads with a function of this module. `wake`
 * lets
 * them run once more.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#define THREADS 8

/* Calls of threads_step() that each of the module's threads makes, with two of threads_leaf() in each. */
static unsigned int steps;
module_param(steps, uint, 0644);

static struct workqueue_struct *queues[THREADS];
static struct work_struct works[THREADS];
static struct kthread_worker *workers[THREADS];
static struct kthread_work asked[THREADS];
static struct task_struct *threads[THREADS];
/* Works that have ended, and threads of the module that have made their calls. */
static atomic_t runs = ATOMIC_INIT(0);

noinline void threads_leaf(void);
noinline void threads_leaf(void)
{
	asm volatile("");
}

noinline void threads_step(void);
noinline void threads_step(void)
{
	threads_leaf();
	threads_leaf();
	asm volatile("");
}

noinline void threads_work(struct work_struct *work);
noinline void threads_work(struct work_struct *work)
{
	msleep(50);
	atomic_inc(&runs);
}

noinline void threads_asked(struct kthread_work *work);
noinline void threads_asked(struct kthread_work *work)
{
	atomic_inc(&runs);
}

/* The function of this module's threads: returns when the module is unloaded. */
noinline int threads_main(void *unused);
noinline int threads_main(void *unused)
{
	unsigned int i;

	for (i = 0; i < steps; i++) {
		threads_step();
		if (!(i % 1000))
			cond_resched();
	}
	atomic_inc(&runs);
	while (!kthread_should_stop())
		msleep_interruptible(20);
	return 0;
}

static int wake(const char *unused, const struct kernel_param *param)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		if (queues[i])
			queue_work(queues[i], &works[i]);
		if (workers[i])
			kthread_queue_work(workers[i], &asked[i]);
	}
	return 0;
}

static int make(const char *unused, const struct kernel_param *param)
{
	unsigned int i;

	for (i = 0; i < THREADS && !queues[i]; i++) {
		/* Ordered and with a worker to rescue it: a rescuer is a thread of its own kind. */
		queues[i] = alloc_workqueue("threads/%u", WQ_UNBOUND | WQ_MEM_RECLAIM, 1, i);
		INIT_WORK(&works[i], threads_work);
		workers[i] = kthread_create_worker(0, "threads_k/%u", i);
		if (IS_ERR(workers[i]))
			workers[i] = NULL;
		else
			wake_up_process(workers[i]->task);
		kthread_init_work(&asked[i], threads_asked);
		threads[i] = kthread_run(threads_main, NULL, "threads_m/%u", i);
		if (IS_ERR(threads[i]))
			threads[i] = NULL;
	}
	return wake(unused, param);
}

static const struct kernel_param_ops make_ops = { .set = make };
module_param_cb(make, &make_ops, NULL, 0200);
static const struct kernel_param_ops wake_ops = { .set = wake };
module_param_cb(wake, &wake_ops, NULL, 0200);

static int get_runs(char *buffer, const struct kernel_param *unused)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&runs));
}

static const struct kernel_param_ops runs_ops = { .get = get_runs };
module_param_cb(runs, &runs_ops, NULL, 0444);

static int __init threads_init(void)
{
	return 0;
}

static void __exit threads_exit(void)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		if (threads[i])
			kthread_stop(threads[i]);
		if (workers[i])
			kthread_destroy_worker(workers[i]);
		if (queues[i])
			destroy_workqueue(queues[i]);
	}
}

module_init(threads_init);
module_exit(threads_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("FKT's tests: threads of all kinds");
