# shellcheck shell=bash disable=SC2119,SC2120
# SPDX-License-Identifier: GPL-2.0-only
#
# Helpers for the cases in tests/vm/cases/: a case starts with
#   #!/usr/bin/env bash
#   # vm: --cpus 1          (optional: options for tests/vm/run, gives the case a boot of its own)
#   # limit: 120            (optional: seconds, 120 otherwise; tests/vm/check tells which other lines there are)
#   source "$FKT_CHECKOUT/tests/vm/lib.sh"
# and runs in the guest as root, with fkt.ko freshly loaded, in an empty
# directory $work on the ext4 disk. It passes with status 0, skips with 77.
set -euo pipefail

case_name=$(basename "$0")
work=/mnt/$case_name
rm -rf "$work"
mkdir -p "$work"
cd "$work"

# A command that fails unexpectedly ends the case: report which one.
set -E
trap 'echo "$case_name: line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR

fail() {
    echo "$case_name: ${BASH_SOURCE[-1]##*/}:${BASH_LINENO[-2]:-?}: $*" >&2
    exit 1
}

skip() {
    echo "$case_name: skipped: $*" >&2
    exit 77
}

# need COMMAND...: skips the case if one of these programs is not installed.
need() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "needs $program"
    done
}

# expect_eq WHAT EXPECTED ACTUAL
expect_eq() { [[ $2 == "$3" ]] || fail "$1: expected \"$2\", got \"$3\""; }

# expect_match WHAT REGEX ACTUAL
expect_match() { [[ $3 =~ $2 ]] || fail "$1: expected a match of /$2/, got \"$3\""; }

# expect_between WHAT LOW HIGH ACTUAL (integers, limits included)
expect_between() { (($4 >= $2 && $4 <= $3)) || fail "$1: expected $2..$3, got $4"; }

# expect_status STATUS COMMAND...: stdout goes to ./stdout, stderr to ./stderr.
expect_status() {
    local expected=$1 actual=0
    shift
    "$@" >stdout 2>stderr </dev/null || actual=$?
    if [[ $actual -ne $expected ]]; then
        sed 's/^/  stderr: /' stderr | tail -10 >&2
        fail "status of \"$*\": expected $expected, got $actual"
    fi
}

# says_damage COMMAND...: the command reads a recording that is damaged or unfinished; it must
# report that in one line on stderr (kept in ./damage) and end with status 1. Its stdout is passed
# through.
says_damage() {
    local actual=0
    "$@" 2>damage </dev/null || actual=$?
    [[ $actual -eq 1 ]] || fail "status of \"$*\" on a damaged recording: expected 1, got $actual: $(<damage)"
    [[ $(wc -l <damage) -eq 1 ]] || fail "\"$*\" on a damaged recording does not say so in one line: $(<damage)"
}

# pause SECONDS: waits without a process of its own; to start `sleep` takes the emulator 14 ms. The pipe has no writer that sends data.
[[ -p /run/fkt-pause ]] || mkfifo /run/fkt-pause
pause() { read -rt "$1" 0<>/run/fkt-pause || true; }

# wait_until SECONDS COMMAND...: polls until the command succeeds; a fixed sleep would be too short
# on a slow machine and too long on a fast one. On debug kernels the time is multiplied. What lasts is
# asked for less often: what is waited for needs the CPU, too.
wait_until() {
    local limit=$(($1 * ${FKT_SLOW:-1})) times=0
    local end=$((SECONDS + limit))
    shift
    until "$@" 2>/dev/null; do
        ((SECONDS < end)) || fail "after $limit s still not: $*"
        if ((times++ < 5)); then pause 0.05; else pause 0.2; fi
    done
}

# A case may have a short form, for `make check`: what only `make check-long` does, which sets FKT_LONG by
# tests/vm/check --long, is said by these two. That finds the cases to run by these names.
# in_long COMMAND...: runs it in the long form alone.
in_long() { [[ ! ${FKT_LONG:-} ]] || "$@"; }
# or_long SHORT LONG: prints LONG in the long form, otherwise SHORT.
or_long() { if [[ ${FKT_LONG:-} ]]; then echo "$2"; else echo "$1"; fi; }

# Half of the second that starting Python takes in the emulator is for packages, which no case uses.
python3() { command python3 -IS "$@"; }

# child PID NAME: prints the process with this name that PID started; fails if there is none. pgrep takes
# a second on a CPU whose system calls are recorded.
child() {
    local children one name
    # Not every kernel has the lists of children (PROC_CHILDREN).
    [[ -e /proc/self/task/$BASHPID/children ]] || { pgrep -P "$1" -x "$2" | head -1 | grep .; return; }
    for children in "/proc/$1/task/"*/children; do
        for one in $(<"$children"); do
            read -r name <"/proc/$one/comm" || continue
            [[ $name != "$2" ]] || { echo "$one"; return; }
        done
    done 2>/dev/null
    return 1
}
has_child() { child "$@" >/dev/null; }

module_loaded() { [[ -d /sys/module/fkt ]]; }
load_module() { insmod "$FKT_KO" "$@"; }
# /proc/kft, or a case, may have loaded fkt_kft, which needs fkt.
unload_module() { { [[ ! -d /sys/module/fkt_kft ]] || rmmod fkt_kft; } && rmmod fkt; }
# The module that traces calls stays loaded while a task is asleep in a function that was traced, perhaps
# since an earlier case.
calls_loaded() { [[ -d /sys/module/fkt_calls ]]; }
open_calls() { echo "$(</sys/module/fkt_calls/parameters/open)"; }
load_calls() {
    calls_loaded || insmod "${FKT_KO%fkt.ko}fkt_calls.ko"
    open_before=$(open_calls)
}
# load_called PARAMETER...: loads tests/vm/modules/called.c, which begins to trace.
load_called() {
    insmod "${FKT_KO%/module/fkt.ko}/tests/vm/modules/called.ko" "$@" || return
    echo 1 >/sys/module/called/parameters/begin || { rmmod called; return 1; }
}
load_kft() { [[ -d /sys/module/fkt_kft ]] || insmod "${FKT_KO%fkt.ko}fkt_kft.ko"; }
load_records() { [[ -d /sys/module/fkt_records ]] || insmod "${FKT_KO%fkt.ko}fkt_records.ko"; }
unload_calls() { ! calls_loaded || { [[ $(open_calls) -eq 0 ]] && rmmod fkt_calls; }; }
# No more calls are open than when the case called load_calls.
calls_returned() { [[ $(open_calls) -le $open_before ]]; }
# calls_end: waits until the case's calls have returned. If they do not, it shows the tasks that are in traced functions; if
# there are none, the module counts wrongly.
calls_end() {
    (wait_until 20 calls_returned) || {
        local stack
        echo "open calls: $(open_calls), $open_before before; tasks that return to fkt_calls:"
        while read -r stack; do
            echo "$(<"${stack%stack}comm"): $(awk '{ printf " " $2 }' "$stack")"
        done < <(grep -ls fkt_calls_enter /proc/[0-9]*/task/*/stack)
        fail "calls that do not return"
    } >&2
    unload_calls || true
}

# ftrace's histograms, which count independently. The kernels of debug.config have none: there, what is known without
# them is taken for what they say.
# hist EVENT KEYS: begins one of the event: "signal/signal_generate" "sig if sig == 10"; end_hists EVENT...: ends them.
# hist_hits EVENT KNOWN: its hits; KNOWN: where there are no histograms.
has_hists() { [[ -e /sys/kernel/tracing/events/sched/sched_switch/hist ]]; }
hist() { ! has_hists || echo "hist:keys=$2" >"/sys/kernel/tracing/events/$1/trigger"; }
hist_hits() { if has_hists; then awk '/Hits:/ { print $2 }' "/sys/kernel/tracing/events/$1/hist"; else echo "$2"; fi; }
# Opening the file for writing removes an event's triggers.
end_hists() {
    local event
    for event in "$@"; do
        : >"/sys/kernel/tracing/events/$event/trigger"
    done
}

# The programs of tests/vm/programs/.
PATH=$FKT_BUILD/bin-tests:$PATH

# field NAME LINE: the word after NAME in "events 12 lost 0 ...".
field() {
    local -a words
    read -ra words <<<"$2"
    local i
    for ((i = 0; i + 1 < ${#words[@]}; i++)); do
        [[ ${words[i]} != "$1" ]] || { echo "${words[i + 1]}"; return; }
    done
    fail "no $1 in \"$2\""
}

# record [fkt_record's options] -- COMMAND...: records to ./rec; fkt_record's messages go to
# ./record.err, the workload's output to stdout. Fails if the recording or the workload fails.
record() {
    fkt_record --force -f rec "$@" 2>record.err </dev/null || {
        local status=$?
        sed 's/^/  /' record.err >&2
        fail "fkt_record $*: status $status"
    }
}

# counts [fkt_print's options]: writes the event counts of ./rec to ./counts.
counts() {
    fkt_print --counts "$@" rec >counts || fail "fkt_print --counts"
}

# count NAME: the count in ./counts; 0 if there is no such line.
count() { awk -F '\t' -v name="$1" '$3 == name { n += $1 } END { print n + 0 }' counts; }

# total: the sum of all counts in ./counts.
total() { awk -F '\t' '{ n += $1 } END { print n + 0 }' counts; }

# events [fkt_print's options]: the events of ./rec, one JSON object per line.
events() { fkt_print --dump --json "$@" rec; }

# expect_near WHAT EXPECTED ACTUAL TOLERANCE
expect_near() { expect_between "$1" $(($2 - $4)) $(($2 + $4)) "$3"; }

# only_lost FILE: checks that nothing is missing except events lost in gaps and discarded ones.
# Leaves ./stats.
only_lost() {
    fkt_print --json --stats "$1" >stats
    python3 - <<'END'
import json, re, sys
s = json.load(open("stats"))
cpus = discarded = 0
for text in s["recording"]["missing"]:
    numbers = [int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", text)]
    if text.startswith("cpu "):
        cpus += numbers[2] - numbers[1]
    elif "discarded" in text:
        discarded = numbers[0]
    elif "lost in gaps" not in text:
        sys.exit("missing: " + text)
if cpus != discarded:
    sys.exit(f"{cpus} events are missing, {discarded} discarded")
print("events", s["events"], "missing", s["recording"]["missing"])
END
}

# Free page frames, including those in per-CPU lists, which MemFree and MemAvailable do not count.
free_frames() {
    awk '$1 == "nr_free_pages" || $1 == "count:" { free += $2 } END { print free }' /proc/zoneinfo
}
