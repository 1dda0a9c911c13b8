# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the guests' halves of the questions (tests/bench/guest/) have in common. Each writes
# $FKT_OUT/figures.tsv, a figure per line, whose columns tests/bench/report knows.

table=$FKT_OUT/figures.tsv

# put WORD...: one line of the table.
put() {
    local IFS=$'\t'
    echo "$*" >>"$table"
}

# What the only CPU has spent awake (ns): all time but the idle task's, exact
# where /proc/stat counts in hundredths of a second.
busy_ns() {
    awk -F '[: ]+' '/^now at/ { now = $3 }
         /\.(idle|iowait)_sleeptime/ { idle += $3 }
         END { printf "%.0f\n", now - idle }' /proc/timer_list
}
