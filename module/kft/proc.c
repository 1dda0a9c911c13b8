// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module fkt_kft. /proc/kft: takes configurations of KFT and the commands prime, start, stop and reset, and shows
 * the status.
 * /proc/kft_data: the log of the last recording. fkt-kft(5) describes both.
 *
 * Text written to one open file is collected until it is a whole configuration: one with `begin` is whole at its
 * `end`, so it may come in several pieces; any other one with each write. A write that completes a wrong text fails,
 * and the status shows the error until the next write that succeeds.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <fkt/kft_parse.h>

#include "control/kft_files.h"
#include "drain/recording.h"
#include "hits/calls_arm.h"
#include "plan.h"
#include "run.h"

static void look(struct work_struct *unused);

static struct {
	struct mutex lock; /* protects the fields below; plan and run are reference-counted */
	struct fkt_kft_plan *plan; /* NULL: there is no configuration */
	struct fkt_kft_run *run; /* of the configuration; NULL: it is not primed */
	u64 runs; /* id of the next one */
	char error[64 + FKT_KFT_ERROR_BYTES]; /* of the last write */
	struct delayed_work look; /* queued while a recording is primed or goes on */
} kft = { .lock = __MUTEX_INITIALIZER(kft.lock), .look = __DELAYED_WORK_INITIALIZER(kft.look, look, 0) };

/* Text that was written to an open file. */
struct writing {
	struct mutex lock; /* against other writers of the same open file */
	char *text; /* NULL: nothing yet */
	u32 bytes;
	bool has_failed; /* the following text is the rest of a wrong configuration */
	bool is_unfinished; /* there is a begin, and no end */
};

/* ---- errors ---- */

/* Caller must hold the lock. */
static void say(const char *fmt, ...)
{
	va_list arguments;

	va_start(arguments, fmt);
	vscnprintf(kft.error, sizeof(kft.error), fmt, arguments);
	va_end(arguments);
	pr_notice_ratelimited("/proc/kft: %s\n", kft.error);
}

/* Another recording is in the way: that of an open /dev/fkt. */
static void say_busy(const char *what)
{
	char name[TASK_COMM_LEN];
	pid_t recorder;

	if (!fkt_recording_owner_name(&fkt_recording, name, &recorder))
		say("%s: the last pages of another recording are still being written", what);
	else if (recorder)
		say("%s: %s (pid %d) is recording by /dev/fkt: end it first", what, name, recorder);
	else
		say("%s: a process outside this pid namespace is recording by /dev/fkt", what);
}

static int say_errno(const char *what, int err)
{
	switch (err) {
	case -EBUSY:
		say_busy(what);
		break;
	case -EPERM:
		say("%s: the kernel is locked down, or who opened /proc/kft lacks CAP_SYS_ADMIN", what);
		break;
	case -ENOPKG:
		say("%s: the module fkt_calls is not loaded: modprobe fkt_calls", what);
		break;
	case -ENODEV:
		say("%s: ftrace is off", what);
		break;
	case -ENOENT:
		say("%s: none of the functions can be traced (any more)", what);
		break;
	case -EOPNOTSUPP:
		say("%s: calls are timed by the TSC, which this machine cannot trust", what);
		break;
	case -EAGAIN:
		/* The machine is about to sleep: kft_write() tries again when it is awake. */
		break;
	case -ENOMEM:
		say("%s: there is not enough memory", what);
		break;
	default:
		say("%s: error %d", what, -err);
	}
	return err;
}

/* ---- commands and configurations; callers must hold the lock ---- */

static bool is_going_on(void)
{
	return kft.run && kft.run->owner;
}

static void look_soon(void)
{
	if (is_going_on())
		mod_delayed_work(system_freezable_wq, &kft.look, 0);
}

/* Returns an ERR_PTR, and says what is wrong. */
static struct fkt_kft_plan *make_plan(const char *text, u32 bytes)
{
	struct fkt_kft_error error;
	struct fkt_kft_plan *plan = fkt_kft_plan_make(text, bytes, &error);

	if (IS_ERR(plan) && error.line)
		say("line %u, column %u: %s", error.line, error.column, error.message);
	else if (IS_ERR(plan))
		say_errno("configuration", PTR_ERR(plan));
	return plan;
}

static void drop_run(void)
{
	fkt_kft_run_put(kft.run);
	kft.run = NULL;
}

/* Makes the plan again if modules that were loaded or unloaded since the configuration was written would change it. */
static int renew_plan(void)
{
	struct fkt_kft_plan *plan;

	if (!fkt_kft_plan_is_of_modules(kft.plan))
		return 0;
	plan = make_plan(kft.plan->text, kft.plan->bytes);
	if (IS_ERR(plan))
		return PTR_ERR(plan);
	fkt_kft_plan_put(kft.plan);
	kft.plan = plan;
	return 0;
}

static int do_prime(const struct file *file, enum fkt_kft_first first)
{
	struct fkt_kft_run *run;
	u64 refused;
	int err;

	if (first == FKT_KFT_PRIME_NOW && kft.run && !fkt_kft_run_prime(kft.run))
		return 0;
	if (is_going_on()) {
		say("prime: the recording goes on: write stop first");
		return -EBUSY;
	}
	if (!kft.plan) {
		say("prime: there is no configuration");
		return -ENODATA;
	}
	err = renew_plan();
	if (err)
		return err;
	run = fkt_kft_run_arm(&fkt_recording, kft.plan, kft.runs, file->f_cred, first, &refused);
	if (IS_ERR(run) && refused) {
		say("prime: the kernel forbids kprobes in %ps, whose arguments are not known", (void *)refused);
		return PTR_ERR(run);
	}
	if (IS_ERR(run))
		return say_errno("prime", PTR_ERR(run));
	drop_run();
	kft.run = run;
	kft.runs++;
	look_soon();
	return 0;
}

static int do_start(const struct file *file)
{
	int err;

	if (!is_going_on())
		return do_prime(file, FKT_KFT_BEGIN_NOW);
	err = fkt_kft_run_begin(kft.run);
	/* The recording has begun meanwhile, or is at its end: that was asked for. */
	return err == -EALREADY || err == -ENODATA ? 0 : err;
}

static int do_stop(void)
{
	if (kft.run)
		return fkt_kft_run_end(kft.run);
	say("stop: nothing is primed");
	return -ENODATA;
}

/* Ends the recording and drops its log. The configuration stays. */
static int do_reset(void)
{
	int err = kft.run ? fkt_kft_run_end(kft.run) : 0;

	if (!err)
		drop_run();
	return err;
}

static int configure(const struct file *file, const char *text, u32 bytes)
{
	struct fkt_kft_plan *plan;

	if (is_going_on()) {
		say("configuration: the recording goes on: write stop first");
		return -EBUSY;
	}
	plan = make_plan(text, bytes);
	if (IS_ERR(plan))
		return PTR_ERR(plan);
	drop_run();
	fkt_kft_plan_put(kft.plan);
	kft.plan = plan;
	return fkt_kft_says(plan->config, FKT_KFT_PRIME) ? do_prime(file, FKT_KFT_AS_IT_SAYS) : 0;
}

/* ---- commands ---- */

enum command { COMMAND_NONE, COMMAND_PRIME, COMMAND_START, COMMAND_STOP, COMMAND_RESET };

static enum command command_of(const struct fkt_kft_parser *p, const struct fkt_kft_word *word)
{
	static const char *const names[] = {
		[COMMAND_PRIME] = "prime", [COMMAND_START] = "start", [COMMAND_STOP] = "stop",
		[COMMAND_RESET] = "reset",
	};
	u32 i;

	for (i = COMMAND_PRIME; i < ARRAY_SIZE(names); i++)
		if (fkt_kft_is(p, word, names[i]))
			return i;
	return COMMAND_NONE;
}

/* Returns whether the text has commands and nothing else. */
static bool is_commands(const char *text, u32 bytes)
{
	struct fkt_kft_parser p = { .text = text, .size = bytes, .line = 1 };
	struct fkt_kft_word word = fkt_kft_take(&p);

	if (!word.bytes)
		return false;
	for (; word.bytes; word = fkt_kft_take(&p))
		if (!command_of(&p, &word))
			return false;
	return true;
}

static int run_command(const struct file *file, enum command command)
{
	switch (command) {
	case COMMAND_PRIME:
		return do_prime(file, FKT_KFT_PRIME_NOW);
	case COMMAND_START:
		return do_start(file);
	case COMMAND_STOP:
		return do_stop();
	default:
		return do_reset();
	}
}

static int run_commands(const struct file *file, const char *text, u32 bytes)
{
	struct fkt_kft_parser p = { .text = text, .size = bytes, .line = 1 };
	struct fkt_kft_word word = fkt_kft_take(&p);
	int err = 0;

	for (; !err && word.bytes; word = fkt_kft_take(&p))
		err = run_command(file, command_of(&p, &word));
	return err;
}

/* ---- /proc/kft ---- */

/* Returns the first word, which has no bytes if there is none. */
static struct fkt_kft_word first_word(const char *text, u32 bytes)
{
	struct fkt_kft_parser p = { .text = text, .size = bytes, .line = 1 };

	return fkt_kft_take(&p);
}

/* Returns whether the word is `whole`, or a first piece of it at the end of the text. */
static bool is_piece(const char *text, u32 bytes, const struct fkt_kft_word *word, const char *whole)
{
	const u32 all = strlen(whole);

	return word->bytes && word->bytes <= all && !memcmp(text + word->at, whole, word->bytes) &&
	       (word->bytes == all || word->at + word->bytes == bytes);
}

/* Returns whether the text begins with `new` or `begin`, or with a first piece of them. */
static bool is_block(const char *text, u32 bytes)
{
	const struct fkt_kft_word word = first_word(text, bytes);

	return is_piece(text, bytes, &word, "new") || is_piece(text, bytes, &word, "begin");
}

/* Returns whether more may follow: there is a begin, and no end yet. */
static bool is_unfinished(const char *text, u32 bytes)
{
	struct fkt_kft_parser p = { .text = text, .size = bytes, .line = 1 };
	struct fkt_kft_word word;

	if (!is_block(text, bytes))
		return false;
	do {
		word = fkt_kft_take(&p);
		if (fkt_kft_is(&p, &word, "end"))
			return false;
	} while (word.bytes);
	return true;
}

/* Handles the text behind `before`, which is new. Caller must hold both locks. */
static int take_text(const struct file *file, struct writing *writing, u32 before)
{
	int err;

	kft.error[0] = 0;
	/* The recording may have ended since the last look. */
	if (kft.run)
		fkt_kft_run_look(kft.run);
	/* First: what append() has left out may be commands, too. */
	if (writing->bytes > FKT_KFT_TEXT_BYTES) {
		say("a configuration has at most %u bytes", FKT_KFT_TEXT_BYTES);
		writing->has_failed = true;
		return -EINVAL;
	}
	if (!writing->is_unfinished && is_commands(writing->text + before, writing->bytes - before)) {
		err = run_commands(file, writing->text + before, writing->bytes - before);
		writing->bytes = 0;
		return err;
	}
	writing->is_unfinished = is_unfinished(writing->text, writing->bytes);
	if (writing->is_unfinished || !first_word(writing->text, writing->bytes).bytes)
		return 0;
	err = configure(file, writing->text, writing->bytes);
	/* Only a wrong text has a rest to be skipped; any other error may be gone when the text is written again. */
	writing->has_failed = err == -EINVAL;
	/* Another configuration may begin after the end. */
	if (err ? !writing->has_failed : is_block(writing->text, writing->bytes))
		writing->bytes = 0;
	return err;
}

/* Appends what is written, up to one byte more than a configuration may have. */
static int append(struct writing *writing, const char __user *from, size_t bytes)
{
	const u32 most = FKT_KFT_TEXT_BYTES + 1;
	const u32 add = min_t(size_t, bytes, most - writing->bytes);

	if (!writing->text)
		writing->text = kvmalloc(most, GFP_KERNEL_ACCOUNT);
	if (!writing->text)
		return -ENOMEM;
	if (copy_from_user(writing->text + writing->bytes, from, add))
		return -EFAULT;
	writing->bytes += add;
	return 0;
}

/* -EAGAIN: the machine is about to sleep, and the text is as it was before. */
static ssize_t write_locked(struct file *file, struct writing *writing, const char __user *from, size_t bytes)
{
	const bool was_unfinished = writing->is_unfinished;
	const u32 before = writing->bytes;
	int err = writing->has_failed ? -EINVAL : append(writing, from, bytes);

	if (err)
		return err;
	err = mutex_lock_killable(&kft.lock);
	if (!err) {
		err = take_text(file, writing, before);
		mutex_unlock(&kft.lock);
	}
	if (err == -EAGAIN || err == -EINTR) {
		writing->bytes = before;
		writing->is_unfinished = was_unfinished;
	}
	return err ?: bytes;
}

/*
 * Waits until the machine is not about to sleep. write(2) has write access to procfs meanwhile, which lockdep takes for
 * a lock: tasks that wait for it would keep the freezer waiting. Nothing freezes procfs, so none does.
 */
static int wait_awake(struct fkt_recording *rec)
{
	return wait_event_state(rec->awake, !READ_ONCE(rec->parked), (TASK_INTERRUPTIBLE | TASK_FREEZABLE_UNSAFE));
}

static ssize_t kft_write(struct file *file, const char __user *from, size_t bytes)
{
	struct writing *writing = ((struct seq_file *)file->private_data)->private;
	ssize_t written;

	if (!bytes)
		return 0;
	/* May take long, so it is done without locks. */
	fkt_record_calls_load();
	do {
		written = wait_awake(&fkt_recording) ?: mutex_lock_killable(&writing->lock);
		if (written)
			return written;
		written = write_locked(file, writing, from, bytes);
		mutex_unlock(&writing->lock);
	} while (written == -EAGAIN);
	return written;
}

static int show(struct seq_file *m, void *unused)
{
	if (mutex_lock_killable(&kft.lock))
		return -EINTR;
	if (kft.run)
		fkt_kft_run_look(kft.run);
	fkt_kft_show_status(m, kft.plan, kft.run);
	if (kft.error[0])
		seq_printf(m, "Error: %s\n", kft.error);
	mutex_unlock(&kft.lock);
	return 0;
}

static int kft_open(struct file *file)
{
	struct writing *writing;
	int err;

	writing = kzalloc(sizeof(*writing), GFP_KERNEL_ACCOUNT);
	if (!writing)
		return -ENOMEM;
	mutex_init(&writing->lock);
	err = single_open(file, show, writing);
	if (err)
		kfree(writing);
	return err;
}

static int kft_release(struct inode *inode, struct file *file)
{
	struct writing *writing = ((struct seq_file *)file->private_data)->private;

	if (writing->is_unfinished && !writing->has_failed) {
		mutex_lock(&kft.lock);
		say("the configuration has no end");
		mutex_unlock(&kft.lock);
	}
	kvfree(writing->text);
	kfree(writing);
	return single_release(inode, file);
}

/* ---- /proc/kft_data ---- */

/* Returns the run whose log is complete, with a reference, or an ERR_PTR. */
static struct fkt_kft_run *get_complete(void)
{
	struct fkt_kft_run *run;

	if (mutex_lock_killable(&kft.lock))
		return ERR_PTR(-EINTR);
	if (kft.run)
		fkt_kft_run_look(kft.run);
	run = !kft.run ? ERR_PTR(-ENODATA) : kft.run->owner ? ERR_PTR(-EBUSY) : kft.run;
	if (!IS_ERR(run))
		kref_get(&run->refs);
	mutex_unlock(&kft.lock);
	return run;
}

/* Gives the reader the present log, which stays while the file is open. */
static int log_open(struct file *file)
{
	struct fkt_kft_run *run = get_complete();
	int err;

	if (IS_ERR(run))
		return PTR_ERR(run);
	err = fkt_kft_log_sort(&run->log) ?: fkt_kft_open_log(file, run);
	if (err)
		fkt_kft_run_put(run);
	return err;
}

static int log_release(struct inode *inode, struct file *file)
{
	fkt_kft_run_put(((struct seq_file *)file->private_data)->private);
	return seq_release(inode, file);
}

const struct fkt_kft_files fkt_kft_files = {
	.open = kft_open,
	.write = kft_write,
	.release = kft_release,
	.open_log = log_open,
	.release_log = log_release,
};
EXPORT_SYMBOL_GPL(fkt_kft_files);

/* ---- the module ---- */

static void look(struct work_struct *unused)
{
	unsigned long next;

	mutex_lock(&kft.lock);
	next = kft.run ? fkt_kft_run_look(kft.run) : 0;
	if (next)
		queue_delayed_work(system_freezable_wq, &kft.look, next);
	mutex_unlock(&kft.lock);
	/* Closes the file of a recording that has ended here, before another recording begins. */
	if (!next)
		flush_delayed_fput();
}

static int __init kft_init(void)
{
	return 0;
}

/* No file is open, and no recording goes on: either would hold a reference to the module. */
static void __exit kft_exit(void)
{
	cancel_delayed_work_sync(&kft.look);
	drop_run();
	fkt_kft_plan_put(kft.plan);
}

module_init(kft_init);
module_exit(kft_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Kernel Function Trace by /proc/kft, for Fast Kernel Tracing");
MODULE_VERSION("0.1");
