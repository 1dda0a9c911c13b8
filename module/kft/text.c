// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the status of /proc/kft, and the log of /proc/kft_data, in the text that KFT's tools read (fkt/kft_text.h).
 */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/time64.h>

#include <fkt/kft_text.h>
#include <fkt/program.h>

#include "plan.h"
#include "run.h"

/* ---- the configuration, as it was understood ---- */

/* Writes the word, as it stands in the configuration. */
static void show_word(struct seq_file *m, const struct fkt_kft_plan *plan, const struct fkt_kft_word *word)
{
	seq_write(m, plan->text + word->at, word->bytes);
}

static void show_function(struct seq_file *m, const struct fkt_kft_plan *plan, const struct fkt_kft_function *function)
{
	seq_puts(m, function->is_left_out ? "!" : "");
	seq_puts(m, function->kind == FKT_KFT_MODULE ? ":mod:" : "");
	show_word(m, plan, &function->word);
}

/* Returns the name of the function with the role; there must be one. */
static const char *role_name(const struct fkt_kft_plan *plan, enum fkt_kft_role role)
{
	const struct fkt_kft_symbol *symbol = fkt_kft_symbol_of(&plan->symbols, role);

	return symbol ? fkt_kft_symbol_name(&plan->symbols, symbol) : "?";
}

static void show_moment(struct seq_file *m, const struct fkt_kft_plan *plan, const struct fkt_kft_trigger *trigger,
			enum fkt_kft_role role)
{
	if (trigger->moment == FKT_KFT_TIME)
		seq_printf(m, "time of %llu usec", div_u64(trigger->time, NSEC_PER_USEC));
	else
		seq_printf(m, "%s%s", trigger->moment == FKT_KFT_ENTRY ? FKT_KFT_TEXT_ENTRY : FKT_KFT_TEXT_EXIT,
			   role_name(plan, role));
}

/* Writes the trigger, with its condition. */
static void show_trigger(struct seq_file *m, const struct fkt_kft_plan *plan, const struct fkt_kft_trigger *trigger,
			 enum fkt_kft_role role)
{
	show_moment(m, plan, trigger, role);
	if (!trigger->condition.bytes)
		return;
	seq_puts(m, " if ");
	show_word(m, plan, &trigger->condition);
}

static void show_triggers(struct seq_file *m, const struct fkt_kft_plan *plan)
{
	const struct fkt_kft_config *config = plan->config;

	seq_puts(m, "Triggers:\n");
	if (fkt_kft_is_primed_late(plan->config)) {
		seq_puts(m, "\tprime: ");
		show_trigger(m, plan, &config->prime, FKT_KFT_OF_PRIME);
		seq_puts(m, config->prime.moment == FKT_KFT_TIME ? " since boot\n" : "\n");
	}
	seq_puts(m, "\tstart: ");
	if (config->start.moment == FKT_KFT_NEVER)
		seq_puts(m, "at once");
	else
		show_trigger(m, plan, &config->start, FKT_KFT_OF_START);
	seq_puts(m, config->start.moment == FKT_KFT_TIME ? " since boot\n\tstop: " : "\n\tstop: ");
	if (config->stop.moment == FKT_KFT_NEVER)
		seq_puts(m, "when the log is full\n");
	else
		show_trigger(m, plan, &config->stop, FKT_KFT_OF_STOP);
	seq_puts(m, config->stop.moment == FKT_KFT_TIME ? " since the start\n" :
		    config->stop.moment == FKT_KFT_NEVER ? "" : "\n");
	if (fkt_kft_plan_repeats(plan))
		seq_puts(m, "\tagain and again\n");
}

static void show_mintimes(struct seq_file *m, const struct fkt_kft_plan *plan)
{
	const char *kind = fkt_kft_says(plan->config, FKT_KFT_CPUTIME) ? "CPU" : "execution";
	u32 i;

	if (plan->config->mintime)
		seq_printf(m, "\t%llu usecs minimum %s time\n", div_u64(plan->config->mintime, NSEC_PER_USEC), kind);
	for (i = 0; i < plan->config->function_count; i++) {
		const struct fkt_kft_function *function = &plan->config->functions[i];

		if (!function->has_mintime)
			continue;
		seq_printf(m, "\t%llu usecs minimum %s time of ", div_u64(function->mintime, NSEC_PER_USEC), kind);
		show_function(m, plan, function);
		seq_puts(m, "\n");
	}
	if (plan->config->maxtime)
		seq_printf(m, "\t%llu usecs maximum %s time\n", div_u64(plan->config->maxtime, NSEC_PER_USEC), kind);
}

static void show_list(struct seq_file *m, const struct fkt_kft_plan *plan)
{
	u32 i;

	if (!fkt_kft_says(plan->config, FKT_KFT_FUNCLIST))
		return;
	seq_puts(m, "\tfunction list:");
	for (i = 0; i < plan->config->function_count; i++) {
		if (plan->config->functions[i].has_mintime)
			continue;
		seq_puts(m, " ");
		show_function(m, plan, &plan->config->functions[i]);
	}
	seq_puts(m, "\n");
}

static void show_keep(struct seq_file *m, const struct fkt_kft_config *config)
{
	if (!fkt_kft_says(config, FKT_KFT_KEEP))
		return;
	seq_puts(m, "\twith what these calls have called");
	if (config->keep_depth)
		seq_printf(m, ", %llu deep", config->keep_depth);
	if (config->keep_percent)
		seq_printf(m, ", %llu%% of their time", config->keep_percent);
	seq_puts(m, "\n");
}

static void show_watch(struct seq_file *m, const struct fkt_kft_config *config)
{
	if (fkt_kft_says(config, FKT_KFT_WATCH))
		seq_printf(m, "\tstacks with less than %llu bytes left%s\n", config->stack,
			   config->is_worst_stack ? ", and less than before" : "");
}

static void show_filters(struct seq_file *m, const struct fkt_kft_plan *plan)
{
	const struct fkt_kft_config *config = plan->config;

	seq_puts(m, FKT_KFT_TEXT_FILTERS "\n");
	show_mintimes(m, plan);
	if (fkt_kft_says(config, FKT_KFT_NOINTS))
		seq_puts(m, "\tno functions in interrupts\n");
	if (fkt_kft_says(config, FKT_KFT_ONLYINTS))
		seq_puts(m, "\tonly functions in interrupts\n");
	show_list(m, plan);
	if (fkt_kft_says(config, FKT_KFT_CALLER))
		seq_printf(m, "\tcalled by %s\n", role_name(plan, FKT_KFT_OF_CALLER));
	if (fkt_kft_says(config, FKT_KFT_DEPTH))
		seq_printf(m, "\tat most %llu calls deep\n", config->depth);
	if (fkt_kft_says(config, FKT_KFT_UNTIMED))
		seq_puts(m, "\tentries and exits, without durations\n");
	show_keep(m, config);
	show_watch(m, config);
	if (fkt_kft_says(config, FKT_KFT_CPU))
		seq_printf(m, "\tCPU %llu\n", config->cpu);
	if (fkt_kft_says(config, FKT_KFT_TASK)) {
		seq_puts(m, "\ttask ");
		show_word(m, plan, &config->task);
		seq_puts(m, "\n");
	}
	if (fkt_kft_says(config, FKT_KFT_UID))
		seq_printf(m, "\tuid %llu\n", config->uid);
	if (fkt_kft_says(config, FKT_KFT_CGROUP))
		seq_printf(m, "\tcgroup %llu\n", config->cgroup);
}

/* ---- the state of the recording ---- */

/* role: of the trigger whose hit it was, if it was one. */
static void show_cause(struct seq_file *m, const struct fkt_kft_run *run, enum fkt_kft_cause cause,
		       enum fkt_kft_role role)
{
	switch (cause) {
	case FKT_KFT_BY_HIT:
		show_moment(m, run->plan, fkt_kft_role_trigger(run->plan->config, role), role);
		break;
	case FKT_KFT_BY_TIME:
		seq_puts(m, "time");
		break;
	case FKT_KFT_BY_LENGTH:
		seq_printf(m, "the log, which has %u entries", run->plan->logentries);
		break;
	case FKT_KFT_BY_ROOM:
		seq_puts(m, "the buffer, which was full");
		break;
	default:
		seq_puts(m, "/proc/kft");
	}
	seq_puts(m, "\n");
}

static void show_ends(struct seq_file *m, const struct fkt_kft_run *run)
{
	/* If nothing else begins the recording, its priming does. */
	const bool by_prime = run->plan->instruments[FKT_KFT_PRIMES].action == FKT_ACTION_START;

	if (run->log.primed) {
		seq_printf(m, "Primed at %llu" FKT_KFT_TEXT_BY, fkt_kft_run_since_boot(run, run->log.primed));
		show_cause(m, run, run->primed_by, FKT_KFT_OF_PRIME);
	}
	if (run->begun_by) {
		seq_printf(m, FKT_KFT_TEXT_STARTED "%llu" FKT_KFT_TEXT_BY, fkt_kft_run_since_boot(run, run->begun));
		show_cause(m, run, run->begun_by, by_prime ? FKT_KFT_OF_PRIME : FKT_KFT_OF_START);
	} else {
		seq_puts(m, "Logging was not started\n");
	}
	seq_printf(m, FKT_KFT_TEXT_STOPPED "%llu" FKT_KFT_TEXT_BY, fkt_kft_run_since_boot(run, run->ended));
	show_cause(m, run, run->ended_by, FKT_KFT_OF_STOP);
}

static void show_counters(struct seq_file *m, const struct fkt_kft_run *run)
{
	const struct fkt_hit_counts *counts = &run->counts;
	u64 missed = 0, without, kept = run->owner ? counts->kept : run->log.count;
	u32 i;

	for (i = 0; i < FKT_MISSED_REASONS; i++)
		missed += counts->missed[i];
	seq_printf(m, FKT_KFT_TEXT_COUNTERS "\n" FKT_KFT_TEXT_TOO_SHORT "%llu\n" FKT_KFT_TEXT_DROPPED "%llu\n",
		   counts->too_short, counts->dropped);
	seq_printf(m, FKT_KFT_TEXT_FILTERED "%llu\n" FKT_KFT_TEXT_MISSED "%llu\n" FKT_KFT_TEXT_KEPT "%llu\n",
		   counts->too_short + counts->dropped, missed, kept);
	without = counts->kept > kept ? counts->kept - kept : 0;
	/* With `watch` the log also has lines of stacks, which counts->kept does not include. */
	if (fkt_kft_says(run->plan->config, FKT_KFT_WATCH))
		without = run->log.dropped;
	if (without)
		seq_printf(m, "Entries without room in the log = %llu\n", without);
	if (run->lowest_stack)
		seq_printf(m, "Lowest stack left = %u bytes\n", run->lowest_stack - 1);
}

/* plan, run: may be NULL. Called with the lock of kft/proc.c. */
void fkt_kft_show_status(struct seq_file *m, const struct fkt_kft_plan *plan, const struct fkt_kft_run *run)
{
	static const char *const states[] = {
		[FKT_KFT_NEW] = "new", [FKT_KFT_PRIMED] = "primed", [FKT_KFT_TRIGGERED] = "triggered",
		[FKT_KFT_COMPLETE] = "complete",
	};

	if (run)
		seq_printf(m, "Run ID: %llu\n", run->id);
	seq_printf(m, "State: %s\n", run ? states[fkt_kft_run_state(run)] :
				     plan ? states[FKT_KFT_NEW] : "no configuration: write one to this file");
	if (!plan)
		return;
	show_triggers(m, plan);
	show_filters(m, plan);
	seq_printf(m, "Functions: %u, %u of them by return probes; %u that patterns fit cannot be traced\n",
		   plan->recorded, plan->by_probe, plan->symbols.left_out);
	seq_printf(m, "Log entries: at most %u%s\n", plan->logentries,
		   fkt_kft_says(plan->config, FKT_KFT_OVERWRITE) ? ", the newest" : "");
	if (!run)
		return;
	if (!run->owner)
		show_ends(m, run);
	show_counters(m, run);
}

/* ---- the log ---- */

static void show_head(struct seq_file *m, const struct fkt_kft_run *run)
{
	seq_printf(m, FKT_KFT_TEXT_RUN "%llu\n\n", run->id);
	show_ends(m, run);
	seq_puts(m, "\n");
	show_filters(m, run->plan);
	seq_puts(m, "\n");
	show_counters(m, run);
	seq_puts(m, "\n" FKT_KFT_TEXT_ZERO_IS_SHORT "\n\n" FKT_KFT_TEXT_TITLES);
}

/* Returns whether the line before is the next frame of the same stack. */
static bool is_in_stack(const struct fkt_kft_run *run, const struct fkt_kft_call *frame)
{
	const struct fkt_kft_call *before = frame - 1;

	return frame != run->log.calls && before->kind == FKT_KFT_FRAME && before->begin == frame->begin &&
	       before->cpu == frame->cpu && before->number + 1 == frame->number;
}

static void show_place(struct seq_file *m, const char *function, const char *caller, u16 cpu)
{
	seq_printf(m, " %*s" FKT_KFT_TEXT_GAP "%-*s" FKT_KFT_TEXT_GAP "%*u\n", FKT_KFT_TEXT_FUNCTION_WIDTH, function,
		   FKT_KFT_TEXT_CALLER_WIDTH, caller, FKT_KFT_TEXT_CPU_WIDTH, cpu);
}

static void show_call(struct seq_file *m, const struct fkt_kft_run *run, const struct fkt_kft_call *call)
{
	static const char *const deltas[] = {
		[FKT_KFT_ENTERED] = FKT_KFT_TEXT_IS_ENTRY, [FKT_KFT_LEFT] = FKT_KFT_TEXT_IS_EXIT,
		[FKT_KFT_FRAME] = FKT_KFT_TEXT_IS_STACK,
	};
	const struct fkt_kft_symbols *set = &run->plan->symbols;
	char pid[16];

	/* Calls that had begun before the recording are shown at its begin. */
	seq_printf(m, "%*llu", FKT_KFT_TEXT_ENTRY_WIDTH,
		   call->begin > run->begun ? fkt_kft_run_usecs(run, call->begin - run->begun) : 0);
	if (call->kind == FKT_KFT_WHOLE)
		seq_printf(m, "%*llu", FKT_KFT_TEXT_DELTA_WIDTH, fkt_kft_run_usecs(run, call->ticks));
	else
		seq_printf(m, "%*s", FKT_KFT_TEXT_DELTA_WIDTH, deltas[call->kind]);
	scnprintf(pid, sizeof(pid), "%u%s", call->pid, call->level == FKT_LEVEL_TASK ? "" : "i");
	seq_printf(m, "%*s", FKT_KFT_TEXT_PID_WIDTH, pid);
	if (call->kind == FKT_KFT_FRAME)
		show_place(m, fkt_kft_log_name(&run->log, call),
			   is_in_stack(run, call) ? fkt_kft_log_name(&run->log, call - 1) : FKT_KFT_TEXT_NO_CALLER,
			   call->cpu);
	else
		show_place(m, fkt_kft_symbol_name(set, &set->symbols[call->number]),
			   call->caller ? fkt_kft_symbol_name(set, &set->symbols[call->caller - 1]) :
					  FKT_KFT_TEXT_NO_CALLER,
			   call->cpu);
}

/* Place 0 is the head, place 1 the first line. */
static void *line_at(struct seq_file *m, loff_t pos)
{
	const struct fkt_kft_run *run = m->private;

	if (!pos)
		return SEQ_START_TOKEN;
	return pos <= run->log.count ? &run->log.calls[pos - 1] : NULL;
}

static void *start_lines(struct seq_file *m, loff_t *pos)
{
	return line_at(m, *pos);
}

static void *next_line(struct seq_file *m, void *line, loff_t *pos)
{
	return line_at(m, ++*pos);
}

static void stop_lines(struct seq_file *m, void *line)
{
}

static int show_line(struct seq_file *m, void *line)
{
	if (line == SEQ_START_TOKEN)
		show_head(m, m->private);
	else
		show_call(m, m->private, line);
	return 0;
}

static const struct seq_operations log_lines = {
	.start = start_lines, .next = next_line, .stop = stop_lines, .show = show_line,
};

/* Opens the file for the log of a run that is complete, and that must stay until seq_release(). */
int fkt_kft_open_log(struct file *file, struct fkt_kft_run *run)
{
	int err = seq_open(file, &log_lines);

	if (!err)
		((struct seq_file *)file->private_data)->private = run;
	return err;
}
