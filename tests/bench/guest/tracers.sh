# shellcheck shell=bash disable=SC2154  # work: set by the sourcing script
# SPDX-License-Identifier: GPL-2.0-only
#
# The tracers that tests/bench compares: for each, how it runs a command with the recording in
# $work, and what it needs once before its first run and after its last. A prepare function that
# fails prints the reason in its last line. LTTNG_MODULES and SYSDIG_MODULES are the directories of
# the modules made by tests/bench/build-peer; EMPTY_PROBES is the path of that module.

run_none() { "$@"; }
run_idle() { "$@"; }
run_probes() { "$@"; }
run_fkt() { fkt_record -v --force -f "$work/trace_file" -- "$@"; }
run_fkt-no-pairs() { fkt_record -v --no-pairs --force -f "$work/trace_file" -- "$@"; }
run_trace-cmd() { (cd "$work" && trace-cmd record -e raw_syscalls "$@"); }
run_trace-cmd-plain() { (cd "$work" && trace-cmd record --compression none -e raw_syscalls "$@"); }
run_perf() { perf record -q -e 'raw_syscalls:*' -o "$work/perf.data" "$@"; }
run_perf-a() { perf record -q -a -e 'raw_syscalls:*' -o "$work/perf.data" "$@"; }
run_lttng() { lttng_session "--syscall getppid" "$@"; }
run_lttng-a() { lttng_session "--syscall --all" "$@"; }
run_bpftrace() { bpftrace -o "$work/map" -c "$*" -e "$bpf_count"; }
run_bpftrace-print() { bpftrace -o "$work/events.txt" -c "$*" -e "$bpf_print"; }
run_sysdig() { sysdig_session "$@"; }

bpf_count='tracepoint:raw_syscalls:sys_enter { @enter[args->id] = count(); }
tracepoint:raw_syscalls:sys_exit { @exit[args->id] = count(); }'
bpf_print='tracepoint:raw_syscalls:sys_enter { printf("%llu %d E %d\n", nsecs, tid, args->id); }
tracepoint:raw_syscalls:sys_exit { printf("%llu %d X %d %d\n", nsecs, tid, args->id, args->ret); }'

lttng_session() {
    local events
    read -ra events <<<"$1"
    shift
    lttng create bench --output="$work/lttng" && lttng enable-event -k "${events[@]}" && lttng start &&
        "$@" && lttng stop && lttng destroy bench
}

# It is ready when its buffers are mapped. Waiting for an idle moment does not work with --icount,
# where time is counted in instructions.
sysdig_session() {
    local sysdig status=0 tries=0
    sysdig -w "$work/trace.scap" >"$work.sysdig" 2>&1 &
    sysdig=$!
    until grep -q scap "/proc/$sysdig/maps" 2>/dev/null && [[ -s $work/trace.scap ]]; do
        if ! kill -0 "$sysdig" || ((++tries > 20000)); then cat "$work.sysdig"; return 1; fi
    done
    "$@" || status=$?
    kill -INT "$sysdig"
    wait "$sysdig" || true
    return "$status"
}

prepare_none() { [[ ! -d /sys/module/fkt ]] || rmmod fkt; }
prepare_idle() { insmod "$FKT_KO"; }
prepare_fkt() { [[ -d /sys/module/fkt ]] || insmod "$FKT_KO"; }
prepare_fkt-no-pairs() { prepare_fkt; }
prepare_probes() { insmod "$EMPTY_PROBES"; }
prepare_perf() { perf --version; }
prepare_trace-cmd() { trace-cmd --version 2>/dev/null || :; }
prepare_lttng() {
    [[ -n ${LTTNG_MODULES:-} ]] || { echo "its modules could not be built for this kernel"; return 1; }
    [[ ! -e /run/lttng/lttng-sessiond.pid ]] || return 0
    mount --bind "$LTTNG_MODULES" "/lib/modules/$(uname -r)" && lttng-sessiond --daemonize
}
prepare_lttng-a() { prepare_lttng; }
# Debian's headers are in two directories, and the guest's link names only one; without the link,
# bpftrace uses the kernel's BTF, which is complete.
prepare_bpftrace() { rm -f "/lib/modules/$(uname -r)/build" && bpftrace --version; }
prepare_bpftrace-print() { prepare_bpftrace; }
prepare_sysdig() {
    [[ -n ${SYSDIG_MODULES:-} ]] || { echo "its module could not be built for this kernel"; return 1; }
    insmod "$SYSDIG_MODULES/extra/scap.ko"
}

finish_probes() { rmmod empty_probes; }
finish_lttng-a() {
    local daemon
    daemon=$(</run/lttng/lttng-sessiond.pid)
    kill "$daemon"
    while kill -0 "$daemon" 2>/dev/null; do sleep 0.1; done
    umount "/lib/modules/$(uname -r)"
}
finish_sysdig() { rmmod scap; }

# once WHAT TRACER: calls the tracer's prepare or finish function, if it has one.
once() { if [[ $(type -t "$1_$2") ]]; then "$1_$2"; fi; }

# trace TRACER COMMAND...: the output goes to $work.out; prints the reason if it fails.
trace() {
    local tracer=$1 status=0
    shift
    "run_$tracer" "$@" >"$work.out" 2>&1 </dev/null || status=$?
    [[ $status -eq 0 ]] || echo "exit status $status: $(tail -1 "$work.out")"
    return "$status"
}

# fresh: empties $work, and waits until all data is written to the disk.
fresh() {
    rm -rf "$work"
    mkdir "$work"
    sync
}

# keep NAME: saves the recording for the host.
keep() {
    [[ -n $(ls -A "$work") ]] || return 0
    rm -rf "${FKT_OUT:?}/$1"
    cp -r "$work" "$FKT_OUT/$1"
}
