# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For cases that change the kernel's text: what else happens to the machine meanwhile. Each runs until the file `stop` is there.

tracing=/sys/kernel/tracing

load_work() {
    while [[ ! -e stop ]]; do
        find /proc -maxdepth 2 >/dev/null 2>&1 || true  # processes end
        dd if=/dev/zero of=load bs=4096 count=200 conv=fsync status=none
    done
}
load_cpus() {
    [[ -w /sys/devices/system/cpu/cpu1/online ]] || return 0
    while [[ ! -e stop ]]; do
        echo 0 >/sys/devices/system/cpu/cpu1/online; pause 0.3
        echo 1 >/sys/devices/system/cpu/cpu1/online; pause 1
    done 2>/dev/null || true
}
load_tracers() {
    while [[ ! -e stop ]]; do
        echo 'vfs_*' >$tracing/set_ftrace_filter
        echo function >$tracing/current_tracer
        echo 'p:one vfs_read' >$tracing/kprobe_events
        echo 1 >$tracing/events/kprobes/enable
        pause 0.5
        echo 0 >$tracing/events/kprobes/enable
        echo >$tracing/kprobe_events
        echo nop >$tracing/current_tracer
        pause 1
    done 2>/dev/null || true
}
load_sleeps() {
    [[ -w /sys/power/pm_test ]] || return 0
    while [[ ! -e stop ]]; do
        echo freezer >/sys/power/pm_test
        echo mem >/sys/power/state
        pause 3
    done 2>/dev/null || true
}
# load_begins: all of them, and from here on the kernel's log is looked at.
load_begins() {
    dmesg | wc -l >lines
    load_work & load_cpus & load_tracers & load_sleeps &
}
# load_ends: fails if the kernel has complained.
load_ends() {
    touch stop
    wait
    dmesg | tail -n "+$(($(<lines) + 1))" >log
    ! grep -E 'BUG|WARNING|Oops|general protection|stack recursion|bad frame|lockdep|possible' log >found ||
        fail "the kernel's log: $(head -5 found)"
}
# load_cleared: for a trap: all is as it was.
load_cleared() {
    touch stop
    wait
    echo 1 >/sys/devices/system/cpu/cpu1/online
    echo nop >$tracing/current_tracer
    echo >$tracing/set_ftrace_filter
    echo 0 >$tracing/events/kprobes/enable
    echo >$tracing/kprobe_events
} 2>/dev/null
