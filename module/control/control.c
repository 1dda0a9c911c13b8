// SPDX-License-Identifier: GPL-2.0-only
/* /dev/fkt: open, ioctls, poll, write; reading and splicing are in reader_splice.c, mapping is in reader_mmap.c. */

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include <fkt/ioctl.h>

#include "drain/reader.h"
#include "drain/reader_mmap.h"
#include "drain/reader_splice.h"
#include "drain/recording.h"
#include "drain/trigger.h"
#include "hits/module_probes.h"
#include "instruments/point_records.h"
#include "ring/page_pool.h"
#include "capture.h"
#include "control.h"
#include "instruments.h"
#include "mark.h"
#include "power.h"
#include "status.h"
#include "steer.h"

static long get_start(struct file *file, void __user *arg)
{
	struct fkt_start start;

	if (copy_from_user(&start, arg, sizeof(start)))
		return -EFAULT;
	return fkt_capture_start(fkt_recording_of(file), file, &start);
}

static long give_status(struct file *file, void __user *arg)
{
	struct fkt_status status;

	fkt_status(fkt_recording_of(file), file, &status);
	return copy_to_user(arg, &status, sizeof(status)) ? -EFAULT : 0;
}

static long give_cpu_status(struct file *file, void __user *arg)
{
	struct fkt_cpu_status status;
	int err;

	if (copy_from_user(&status, arg, sizeof(status)))
		return -EFAULT;
	err = fkt_cpu_status(fkt_recording_of(file), file, &status);
	if (err)
		return err;
	return copy_to_user(arg, &status, sizeof(status)) ? -EFAULT : 0;
}

static long give_clocks(struct file *file, void __user *arg)
{
	struct fkt_clocks clocks;
	int err;

	if (copy_from_user(&clocks, arg, sizeof(clocks)))
		return -EFAULT;
	err = fkt_power_read_clocks(fkt_recording_of(file), file, &clocks);
	if (err)
		return err;
	return copy_to_user(arg, &clocks, sizeof(clocks)) ? -EFAULT : 0;
}

static long change_mask(struct file *file, unsigned int cmd, const u64 __user *arg)
{
	u64 mask;

	if (copy_from_user(&mask, arg, sizeof(mask)))
		return -EFAULT;
	switch (cmd) {
	case FKT_ENABLE:
		return fkt_steer_mask(fkt_recording_of(file), file, mask, 0);
	case FKT_DISABLE:
		return fkt_steer_mask(fkt_recording_of(file), file, 0, mask);
	default:
		return fkt_steer_mask(fkt_recording_of(file), file, mask, ~mask);
	}
}

static long set_memory(struct file *file, unsigned int cmd, const u32 __user *arg)
{
	struct fkt_recording *rec = fkt_recording_of(file);
	u32 value;

	if (copy_from_user(&value, arg, sizeof(value)))
		return -EFAULT;
	return cmd == FKT_SETINITPOWPAGES ? fkt_steer_set_pow(rec, file, value) :
					    fkt_steer_set_dma(rec, file, value);
}

static long take_pages(struct file *file, void __user *arg)
{
	struct fkt_lend lend;
	int err;

	if (copy_from_user(&lend, arg, sizeof(lend)))
		return -EFAULT;
	err = fkt_reader_take(fkt_recording_of(file), file, &lend);
	if (err)
		return err;
	return copy_to_user(arg, &lend, sizeof(lend)) ? -EFAULT : 0;
}

static long give_pages(struct file *file, void __user *arg)
{
	struct fkt_lend lend;

	if (copy_from_user(&lend, arg, sizeof(lend)))
		return -EFAULT;
	return fkt_reader_give(fkt_recording_of(file), file, &lend);
}

static long flight(struct file *file, const u32 __user *arg)
{
	u32 step;

	if (copy_from_user(&step, arg, sizeof(step)))
		return -EFAULT;
	return fkt_steer_flight(fkt_recording_of(file), file, step);
}

static long give_fired(struct file *file, void __user *arg)
{
	struct fkt_fired fired;
	int err = fkt_steer_fired(fkt_recording_of(file), file, &fired);

	if (err)
		return err;
	return copy_to_user(arg, &fired, sizeof(fired)) ? -EFAULT : 0;
}

static long give_index(struct file *file, const void __user *arg)
{
	struct fkt_index index;

	if (copy_from_user(&index, arg, sizeof(index)))
		return -EFAULT;
	return fkt_status_index(fkt_recording_of(file), file, &index);
}

static long give_hit_counts(struct file *file, struct fkt_hit_counts __user *arg)
{
	struct fkt_hit_counts counts;
	int err;

	if (copy_from_user(&counts, arg, sizeof(counts)))
		return -EFAULT;
	err = fkt_status_hit_counts(fkt_recording_of(file), file, &counts);
	if (err)
		return err;
	return copy_to_user(arg, &counts, sizeof(counts)) ? -EFAULT : 0;
}

static long give_refused(const struct file *file, u64 __user *arg)
{
	const struct fkt_opener *opener = file->private_data;

	return put_user(READ_ONCE(opener->refused), arg);
}

static long give_results(struct file *file, struct fkt_results __user *arg)
{
	struct fkt_histogram_row *rows;
	struct fkt_results results;
	long err;

	if (copy_from_user(&results, arg, sizeof(results)))
		return -EFAULT;
	results.count = min_t(u32, results.count, FKT_RESULTS_ROWS);
	rows = kvmalloc_array(FKT_RESULTS_ROWS, sizeof(*rows), GFP_KERNEL_ACCOUNT);
	if (!rows)
		return -ENOMEM;
	err = fkt_status_results(fkt_recording_of(file), file, &results, rows);
	if (!err && (copy_to_user(u64_to_user_ptr(results.rows), rows, results.count * sizeof(*rows)) ||
		     copy_to_user(arg, &results, sizeof(results))))
		err = -EFAULT;
	kvfree(rows);
	return err;
}

static long exchange_instruments(struct file *file, struct fkt_exchange __user *arg)
{
	struct fkt_opener *opener = file->private_data;
	struct fkt_exchange exchange;
	u64 refused;
	int err;

	if (copy_from_user(&exchange, arg, sizeof(exchange)))
		return -EFAULT;
	err = fkt_instruments_exchange(fkt_recording_of(file), file, &exchange, &refused);
	WRITE_ONCE(opener->refused, refused);
	if (err)
		return err;
	return copy_to_user(arg, &exchange, sizeof(exchange)) ? -EFAULT : 0;
}

static long give_point_record(const struct file *file, struct fkt_point_record __user *arg)
{
	struct fkt_point_record record;
	int err;

	if (copy_from_user(&record, arg, sizeof(record)))
		return -EFAULT;
	err = fkt_point_record_describe(file, &record);
	if (err)
		return err;
	return copy_to_user(arg, &record, sizeof(record)) ? -EFAULT : 0;
}

/* FKT_PID: translates a thread's number in the caller's pid namespace to its number in recordings. */
static long give_pid(u32 __user *arg)
{
	struct pid *pid;
	u32 number;

	if (get_user(number, arg))
		return -EFAULT;
	rcu_read_lock();
	pid = number <= PID_MAX_LIMIT ? find_vpid(number) : NULL;
	number = pid_task(pid, PIDTYPE_PID) ? pid_nr(pid) : 0;
	rcu_read_unlock();
	if (!number)
		return -ESRCH;
	return put_user(number, arg);
}

static long fkt_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	u32 abi = FKT_ABI_VERSION;

	switch (cmd) {
	case FKT_SETINITPOWPAGES:
	case FKT_SETTRYDMA:
		return set_memory(file, cmd, user);
	case FKT_FREEBUFFER:
		return fkt_steer_free(fkt_recording_of(file), file);
	case FKT_WAITREADY:
		return fkt_steer_wait_ready(fkt_recording_of(file));
	case FKT_ENABLE:
	case FKT_DISABLE:
	case FKT_SETMASK:
		return change_mask(file, cmd, user);
	case FKT_START:
		return get_start(file, user);
	case FKT_STOP:
		return fkt_capture_stop(fkt_recording_of(file), file);
	case FKT_STATUS:
		return give_status(file, user);
	case FKT_CPU_STATUS:
		return give_cpu_status(file, user);
	case FKT_GET_ABI:
		return copy_to_user(user, &abi, sizeof(abi)) ? -EFAULT : 0;
	case FKT_CLOCKS:
		return give_clocks(file, user);
	case FKT_JOIN:
		return fkt_steer_join(fkt_recording_of(file), file);
	case FKT_TAKE:
		return take_pages(file, user);
	case FKT_GIVE:
		return give_pages(file, user);
	case FKT_FLIGHT:
		return flight(file, user);
	case FKT_FIRED:
		return give_fired(file, user);
	case FKT_INDEX:
		return give_index(file, user);
	case FKT_PID:
		return give_pid(user);
	case FKT_HIT_COUNTS:
		return give_hit_counts(file, user);
	case FKT_REFUSED:
		return give_refused(file, user);
	case FKT_MODULE_PROBES:
		return fkt_module_probes_give(file, user);
	case FKT_RESULTS:
		return give_results(file, user);
	case FKT_EXCHANGE:
		return exchange_instruments(file, user);
	case FKT_POINT_RECORD:
		return give_point_record(file, user);
	}
	return -ENOTTY;
}

static __poll_t fkt_poll(struct file *file, poll_table *wait)
{
	struct fkt_recording *rec = fkt_recording_of(file);
	enum fkt_state state;
	__poll_t events = 0;

	poll_wait(file, &rec->readers, wait);
	if (!fkt_recording_owned_by(rec, file))
		return 0;
	state = fkt_recording_state(rec);
	if (state == FKT_STOPPING)
		events |= EPOLLPRI;
	/* After the stop FKT_FIRED has nothing to give: a poll for it would return at once, again and again. */
	if (state != FKT_STOPPED && fkt_trigger_pending())
		events |= EPOLLRDBAND;
	if (READ_ONCE(rec->started_by))
		events |= EPOLLWRBAND;
	if (fkt_reader_readable(rec, file) || state == FKT_STOPPED)
		events |= EPOLLIN | EPOLLRDNORM;
	return events;
}

static ssize_t fkt_write(struct file *file, const char __user *from, size_t bytes, loff_t *unused)
{
	return fkt_mark_write(file, from, bytes);
}

static int fkt_open(struct inode *inode, struct file *file)
{
	return fkt_capture_opened(&fkt_recording, file);
}

static int fkt_release(struct inode *inode, struct file *file)
{
	fkt_capture_closed(file);
	return 0;
}

static const struct file_operations fkt_fops = {
	.owner = THIS_MODULE,
	.open = fkt_open,
	.release = fkt_release,
	.unlocked_ioctl = fkt_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = fkt_poll,
	.mmap = fkt_reader_mmap,
	.read_iter = fkt_reader_read,
	.write = fkt_write,
	.splice_read = fkt_reader_splice,
	/* sendfile(2) to files and sockets requires a device that can seek. */
	.llseek = noop_llseek,
};

static struct miscdevice fkt_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fkt",
	.mode = 0600,
	.fops = &fkt_fops,
};

int fkt_control_init(void)
{
	return misc_register(&fkt_device);
}

void fkt_control_exit(void)
{
	misc_deregister(&fkt_device);
}
