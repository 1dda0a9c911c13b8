/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The text log of KFT, which the kernel (module/kft/text.c) and the tools (lib/report/kft_head.h,
 * lib/calls/call_trace.h) write alike, and lib/calls/kft_log.h reads: a head, then a line for each call, in the order
 * of their begins.
 */
#ifndef FKT_KFT_TEXT_H
#define FKT_KFT_TEXT_H

#define FKT_KFT_TEXT_RUN "Kernel Instrumentation Run ID "
/* "Logging started at 6785045 usec by entry to function start_kernel" */
#define FKT_KFT_TEXT_STARTED "Logging started at "
#define FKT_KFT_TEXT_STOPPED "Logging stopped at "
#define FKT_KFT_TEXT_BY " usec by "
#define FKT_KFT_TEXT_ENTRY "entry to function "
#define FKT_KFT_TEXT_EXIT "exit from function "

#define FKT_KFT_TEXT_FILTERS "Filters:"
#define FKT_KFT_TEXT_COUNTERS "Filter Counters:"
#define FKT_KFT_TEXT_TOO_SHORT "Execution time filter count = "
#define FKT_KFT_TEXT_DROPPED "Other filters count = "
#define FKT_KFT_TEXT_FILTERED "Total entries filtered = "
#define FKT_KFT_TEXT_MISSED "Entries not found = "
#define FKT_KFT_TEXT_KEPT "Number of entries after filters = "

/* Without it, older logs have a Delta of 0 if the exit was not seen. */
#define FKT_KFT_TEXT_ZERO_IS_SHORT "Delta 0: less than 1 usec; no exit: the exit was not seen"

#define FKT_KFT_TEXT_TITLES                                                                          \
	" Entry      Delta      PID            Function                    Called At          CPU\n"  \
	"--------   --------   -----   -------------------------   --------------------------   ---\n"

/*
 * Widths of the columns, which are right-aligned but for "Called At"; a blank precedes the function, and a gap the two
 * behind it. An "i" after the PID marks a call in an interrupt. The CPU, which logs of other programs do not have, is
 * that on which the call returned.
 */
#define FKT_KFT_TEXT_ENTRY_WIDTH 8
#define FKT_KFT_TEXT_DELTA_WIDTH 11
#define FKT_KFT_TEXT_PID_WIDTH 8
#define FKT_KFT_TEXT_FUNCTION_WIDTH 27
#define FKT_KFT_TEXT_CALLER_WIDTH 26
#define FKT_KFT_TEXT_CPU_WIDTH 3
#define FKT_KFT_TEXT_GAP "   "
#define FKT_KFT_TEXT_NO_CALLER "-"

/*
 * Texts in place of a duration: with `untimed`, for entries and exits; with `watch`, for each function of a stack that
 * was taken when the innermost one was entered, the outermost one first.
 */
#define FKT_KFT_TEXT_IS_ENTRY "entry"
#define FKT_KFT_TEXT_IS_EXIT "exit"
#define FKT_KFT_TEXT_IS_STACK "-2"

#endif /* FKT_KFT_TEXT_H */
