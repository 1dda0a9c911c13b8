# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Common parts of the scripts that run in the guest (tests/bench/guest/), and of tests/bench/run. Each script writes
# $FKT_OUT/figures.tsv, one figure per line; tests/bench/report knows the columns.

table=${FKT_OUT:-}/figures.tsv

# put WORD...: writes one line of the table.
put() {
    local IFS=$'\t'
    echo "$*" >>"$table"
}

# busy_ns: prints the time that the only CPU was not idle (ns): that of all tasks but the idle task; now, or, with
# timer_list=FILE, when the file was read. Exact, while /proc/stat counts in hundredths of a second.
busy_ns() {
    awk -F '[: ]+' '/^now at/ { now = $3 }
         /\.(idle|iowait)_sleeptime/ { idle += $3 }
         END { printf "%.0f\n", now - idle }' "${timer_list:-/proc/timer_list}"
}
