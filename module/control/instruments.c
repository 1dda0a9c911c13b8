// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of instruments that is in force, and its exchange while it records.
 *
 * An exchange arms the new places, then replaces one pointer, from which all probes take what they do with a hit, then
 * disarms the places that are gone. A hit belongs to the table that its probe finds; a place that is armed and not in
 * that table has no hits. So recording, conditions and counters change in one step, and an error, which only arming can
 * have, leaves the previous table in force.
 *
 * When no probe can be using the previous table any more (wait_for_probes()), and so no hit of its places can be
 * counted, these are disarmed and the table is freed. The recording cannot end meanwhile, because that takes the lock
 * which the exchange holds, and waits for the end of `arming`, in which it arms and disarms places in user programs
 * without the lock (capture.c says why); if it ends by itself (limit, error), its hooks stay until FKT_STOP.
 */

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include <fkt/ioctl.h>

#include "arch/arch.h"
#include "drain/recording.h"
#include "hits/calls_arm.h"
#include "hits/entries.h"
#include "hits/file_names.h"
#include "hits/instructions.h"
#include "hits/module_probes.h"
#include "hits/points.h"
#include "instruments/call_quick.h"
#include "instruments/call_table.h"
#include "instruments/instrument_table.h"
#include "instruments/instruments_now.h"
#include "instruments/mask.h"
#include "instruments/point_table.h"
#include "instruments/task_flags.h"
#include "instruments/user_table.h"
#include "ring/clock.h"
#include "ring/self.h"
#include "user/user_arm.h"
#include "user/user_calls.h"
#include "attach.h"
#include "define.h"
#include "instruments.h"

/*
 * Ftrace has switched itself off, and goes on calling the probe of entries or return probes. Changes under the
 * recording's lock.
 */
static bool goes_on;

/*
 * Returns when no probe uses a table that was replaced before. All probes run with preemption disabled: those of
 * tracepoints, and those of functions and instructions where RCU watches, end within a grace period; those of functions
 * that are called where RCU does not watch, before every CPU has switched tasks. (Kernels that trace no such functions
 * have a second wait that does nothing.)
 */
static void wait_for_probes(void)
{
	tracepoint_synchronize_unregister();
	synchronize_rcu_tasks_rude();
}

/*
 * ---- arming and disarming all kinds of places but those in user programs; callers must hold the recording's lock
 * ----
 */

/* After an error the caller must call disarm() with the table in force, or end_places(). */
static int arm(struct fkt_instrument_table *table, u64 *refused)
{
	return fkt_names_begin() ?:
	       fkt_record_points_arm(table->points) ?:
	       fkt_record_module_probes_arm(table->points) ?:
	       fkt_record_calls_arm(table->calls, refused) ?:
	       fkt_record_entries_arm(table->entries) ?:
	       fkt_record_instructions_arm(table->instructions, refused);
}

/* Leaves only the places of `table`, which may be NULL. */
static void disarm(struct fkt_instrument_table *table)
{
	fkt_record_points_disarm(table ? table->points : NULL);
	fkt_record_module_probes_disarm(table ? table->points : NULL);
	fkt_record_calls_disarm(table);
	fkt_record_entries_disarm(table ? table->entries : NULL);
	fkt_record_instructions_disarm(table);
}

static void end_places(const struct fkt_instrument_table *table)
{
	fkt_record_instructions_end(table);
	if (!fkt_record_entries_end())
		goes_on = true;
	if (!fkt_record_calls_end(table))
		goes_on = true;
	fkt_record_module_probes_end();
	fkt_record_points_end();
}

/* ---- with the recording; callers must hold its lock ---- */

/*
 * Takes over `table`, which may be NULL, arms its places and puts it into force. refused: as in struct parts of
 * capture.c. Called before the mask is set. After an error the caller must call fkt_instruments_end() and
 * fkt_instruments_free().
 */
int fkt_instruments_begin(struct fkt_recording *rec, struct fkt_instrument_table *table, u64 *refused)
{
	int err;

	rec->table = 0;
	if (!table)
		return 0;
	err = arm(table, refused);
	if (err) {
		end_places(table);
		fkt_instrument_table_free(table);
		return err;
	}
	fkt_self_leave_out(fkt_instrument_table_leaves_out(table));
	rcu_assign_pointer(fkt_instruments_now, table);
	/*
	 * No earlier table, so nothing is disarmed: the calls only tell the probes that the table is in force. For
	 * functions fkt_record_calls_settle() does so without visiting each of them.
	 */
	fkt_record_points_disarm(table->points);
	fkt_record_module_probes_disarm(table->points);
	fkt_record_calls_settle();
	return 0;
}

/*
 * Called when the mask is 0. Places in user programs stay armed, and have no hits: when no probe runs any more that has
 * seen the mask before, no hit is being recorded.
 */
void fkt_instruments_end(struct fkt_recording *rec)
{
	struct fkt_instrument_table *table = fkt_recording_instruments(rec);

	end_places(table);
	fkt_self_leave_out(false);
	/* The table stays, for its counts. */
	if (table && table->points)
		fkt_point_table_drop_records(table->points);
}

/* Frees the table of the last recording, with its counts. */
void fkt_instruments_free(struct fkt_recording *rec)
{
	struct fkt_instrument_table *table = fkt_recording_instruments(rec);

	RCU_INIT_POINTER(fkt_instruments_now, NULL);
	/* Places in user programs may still be armed. */
	if (goes_on || rec->arming)
		wait_for_probes();
	fkt_instrument_table_free(table);
	fkt_task_flags_free();
	if (!rec->arming)
		fkt_user_calls_free();
	fkt_names_end();
}

/*
 * Disarms all places in user programs, and ends `arming`. Called without the lock by the one who has set `arming`, when
 * no hook is on.
 */
void fkt_instruments_disarm_users(struct fkt_recording *rec)
{
	fkt_record_users_end();
	mutex_lock(&rec->lock);
	/* Not before: the handlers of these places use it with preemption enabled. */
	fkt_user_calls_free();
	mutex_unlock(&rec->lock);
	fkt_recording_armed(rec);
}

/* ---- exchange ---- */

/* Puts `table` into force in place of `before`, which may be NULL. Cannot fail. */
static void put_into_force(struct fkt_recording *rec, struct fkt_instrument_table *table,
			   struct fkt_instrument_table *before)
{
	if (before)
		fkt_instrument_table_take_results(table, before);
	if (table->calls)
		table->calls->since = fkt_counter();
	fkt_self_leave_out(fkt_instrument_table_leaves_out(table));
	/* Release: a probe that finds the table finds all that it refers to. */
	rcu_assign_pointer(fkt_instruments_now, table);
	fkt_mask_choose_quick(table);
	rec->table = (rec->table + 1) & FKT_ARG_MASK;
	fkt_tell_table(rec->table, table->count);
	wait_for_probes();
	disarm(table);
}

static int exchange_locked(struct fkt_recording *rec, struct fkt_instrument_table *table, const char *lines, u32 bytes,
			   u64 *refused)
{
	struct fkt_instrument_table *before = fkt_recording_instruments(rec);
	int err = before ? fkt_instrument_table_follows(table, before) : 0;

	if (!err)
		err = fkt_task_flags_make(table->threads) ?:
		      fkt_user_calls_make(table->users) ?:
		      fkt_attach_layers(rec->mask);
	if (!err)
		err = fkt_define(rec, lines, bytes);
	if (err)
		return err;
	err = arm(table, refused);
	if (err) {
		/* No probe has found `table`, but probes of its places may still be running. */
		disarm(before);
		return err;
	}
	put_into_force(rec, table, before);
	fkt_instrument_table_free(before);
	return 0;
}

/* Reads the lines from user memory; NULL: there are none. */
static char *get_lines(const struct fkt_exchange *exchange)
{
	char *lines;
	int err;

	if (!exchange->line_bytes)
		return NULL;
	if (exchange->line_bytes > FKT_DEFINE_MOST)
		return ERR_PTR(-EINVAL);
	lines = vmemdup_user(u64_to_user_ptr(exchange->lines), exchange->line_bytes);
	if (IS_ERR(lines))
		return lines;
	err = fkt_define_check(lines, exchange->line_bytes);
	if (!err)
		return lines;
	kvfree(lines);
	return ERR_PTR(err);
}

/* Returns 0 if `table` may be put into force. Caller must hold the recording's lock. */
static int check_exchange(const struct fkt_recording *rec, const struct file *file,
			  const struct fkt_instrument_table *table)
{
	if (!fkt_recording_goes_on(rec, file) || rec->state != FKT_RECORDING || !rec->begun)
		return -ENODATA;
	/* The file may have begun another recording meanwhile, with another clock. */
	return table->calls && rec->clock != FKT_CLOCK_TSC ? -EOPNOTSUPP : 0;
}

/*
 * Sets `arming`, with which the places in user programs are armed and disarmed without the lock. Sets *in_force to the
 * table in force, which no other caller replaces or frees meanwhile, because the recording does not stop.
 */
static int begin_exchange(struct fkt_recording *rec, const struct file *file, const struct fkt_instrument_table *table,
			  struct fkt_instrument_table **in_force)
{
	int err = fkt_recording_lock_to_arm(rec);

	if (err)
		return err;
	err = check_exchange(rec, file, table);
	rec->arming = !err;
	*in_force = fkt_recording_instruments(rec);
	mutex_unlock(&rec->lock);
	return err;
}

/* Called by the one who has set `arming`. Checks again: the recording may have ended by itself. */
static int exchange_now(struct fkt_recording *rec, const struct file *file, struct fkt_instrument_table *table,
			const char *lines, u32 bytes, u64 *refused)
{
	int err = fkt_recording_lock_awake(rec);

	if (err)
		return err;
	err = check_exchange(rec, file, table) ?: exchange_locked(rec, table, lines, bytes, refused);
	mutex_unlock(&rec->lock);
	return err;
}

/*
 * FKT_EXCHANGE. Sets exchange->table and *refused, which is 0 or the place that the kernel refused to probe. -ENODATA:
 * it is not this file's recording; -ENOBUFS: no page became free for the lines.
 */
int fkt_instruments_exchange(struct fkt_recording *rec, const struct file *file, struct fkt_exchange *exchange,
			     u64 *refused)
{
	struct fkt_instrument_table *table, *in_force;
	char *lines;
	int err;

	*refused = 0;
	if (!exchange->instruments)
		return -EINVAL;
	table = fkt_instrument_table_get(file, exchange->instruments, READ_ONCE(rec->clock),
					 FKT_GIVEN_BY_USER);
	if (IS_ERR(table))
		return PTR_ERR(table);
	if (table->calls || table->entries)
		fkt_record_calls_load();
	lines = get_lines(exchange);
	err = IS_ERR(lines) ? PTR_ERR(lines) : begin_exchange(rec, file, table, &in_force);
	if (!err) {
		err = fkt_record_users_arm(table->users, refused) ?:
		      exchange_now(rec, file, table, lines, exchange->line_bytes, refused);
		if (!err) {
			in_force = table;
			table = NULL;
			exchange->table = rec->table;
		}
		fkt_record_users_disarm(in_force ? in_force->users : NULL);
		fkt_recording_armed(rec);
	}
	fkt_instrument_table_free(table);
	if (!IS_ERR(lines))
		kvfree(lines);
	return err;
}
