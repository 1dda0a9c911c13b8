# shellcheck shell=bash disable=SC2154  # work, recorder: lib.sh's and the caller's
# SPDX-License-Identifier: GPL-2.0-only
#
# For cases in which the output fails during a recording: records a program that makes calls without
# end, checks the recorder's messages about the fault, and what is in the file afterwards.

# safe_pages: sets `safe` to the last number that the recorder reported as safe, 0 at first. By the shell
# alone: it is called again and again while every process that starts is recorded.
safe_pages() {
    local line
    safe=0
    while read -r line; do
        [[ ! $line =~ :\ ([0-9,]*)\ pages\ are\ safe ]] || safe=${BASH_REMATCH[1]//,/}
    done <record.err
}

safe_or_over() {
    safe_pages
    ((safe >= $1)) || ! kill -0 "$recorder"
}

# begin WHERE OPTION...: starts a recording to WHERE that runs until a fault; returns when some
# pages are safe.
begin() {
    local where=$1
    shift
    # The recorder's shell may open its files only after safe_pages() has read those of the recorder before.
    : >record.err
    fkt_record -v --sync 200ms "$@" -f "$where" -- flood 2 0 2000 >calls 2>record.err </dev/null &
    recorder=$!
    wait_until 30 safe_or_over 20
    kill -0 "$recorder" || fail "$where $*: $(<record.err)"
}

# ended: succeeds if the recorder has given up, which it reports before it waits for its workload.
ended() { [[ $(<record.err) == *'flood runs on untraced'* ]]; }

# finish WHAT: the recorder must end the recording by itself while the workload goes on; its status
# must be 125, and one line must give the reason. Sets `safe`.
finish() {
    local what=$1 status=0 lines workload
    wait_until 30 ended
    workload=$(child "$recorder" flood) || fail "$what: the workload ended with the recording"
    kill -TERM "$workload"
    wait "$recorder" || status=$?
    expect_eq "$what: status" 125 "$status"
    lines=$(grep -cE "$fault_lines" record.err || true)
    [[ $lines -eq 1 ]] || fail "$what: $lines lines about the fault: $(tail -5 record.err)"
    echo "$what: $(grep -E "$fault_lines" record.err)"
    safe_pages
}

# A regular expression for the message about a fault; a case may set its own.
fault_lines='[Ii]nput/output error|[Nn]o such device|[Nn]o space left|[Rr]ead-only file system'

# expect_found WHAT FILE: it must be readable, its first `safe` pages undamaged; the events shown
# must be exactly those of the undamaged pages, and what is missing must be reported.
expect_found() {
    local what=$1 line
    line=$("$FKT_CHECKOUT/tests/vm/found" "$2") || fail "$what: $line"
    echo "$what: $safe pages were safe, found: $line"
    (($(field intact "$line") >= safe)) || fail "$what: fewer whole pages than were safe"
    expect_eq "$what: events shown" "$(field events "$line")" "$(field shown "$line")"
    (($(field shown "$line") > 1000)) || fail "$what: next to nothing is shown"
    [[ $(field finished "$line") == no || $line =~ missing\ .*discarded ]] ||
        fail "$what: nothing is missing after a fault?"
}
