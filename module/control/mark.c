// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines that are written to /dev/fkt: each is an event MARK of the thread that writes it, in the recording that goes
 * on, whatever its mask and its filter are. As for a change of the mask, the recording must be the writer's, or of the
 * same user, or the writer privileged. Without a recording nothing happens, so that scripts need not ask.
 */

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <fkt/events.h>

#include "drain/recording.h"
#include "ring/access.h"
#include "ring/write.h"
#include "mark.h"

#define MOST_BYTES 4096 /* of one write; the rest is for the next one */

/* Caller must hold the lock of a recording that has begun and is not parked. */
static void write_lines(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		preempt_disable_notrace();
		fkt_emit_string(FKT_E_MARK, NULL, 0, line);
		preempt_enable_notrace();
	}
}

/* Changes `text`. -EPERM: the recording belongs to another user; -EINTR: the task is being killed. */
static int write_text(struct fkt_recording *rec, const struct file *file, char *text)
{
	int err = fkt_recording_lock(rec);

	if (err)
		return err;
	if (rec->state == FKT_RECORDING && rec->owner && fkt_recording_begun(rec)) {
		if (!fkt_access_steer(file, rec->owner))
			err = -EPERM;
		else if (!rec->parked && !fkt_recording_waits(rec))
			write_lines(text);
	}
	mutex_unlock(&rec->lock);
	return err;
}

/* Returns how many bytes were taken, the first ones, or an errno. Zero bytes end lines, too. */
ssize_t fkt_mark_write(const struct file *file, const char __user *from, size_t bytes)
{
	const size_t n = min_t(size_t, bytes, MOST_BYTES);
	char *text;
	size_t i;
	int err = 0;

	text = kmalloc(n + 1, GFP_KERNEL_ACCOUNT);
	if (!text)
		return -ENOMEM;
	if (copy_from_user(text, from, n))
		err = -EFAULT;
	for (i = 0; !err && i < n; i++)
		if (!text[i])
			text[i] = '\n';
	text[n] = 0;
	if (!err)
		err = write_text(fkt_recording_of(file), file, text);
	kfree(text);
	return err ?: n;
}
