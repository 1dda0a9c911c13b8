# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For the cases that use /proc/kft; behind tests/vm/lib.sh. No modprobe(8) finds the module in a guest.
load_kft

# says ERROR TEXT: writes the text to /proc/kft; the write must end with this error, or with none if it is empty.
says() {
    local error
    error=$(printf '%s\n' "$2" | tee /proc/kft 2>&1 >/dev/null | sed 's/.*: //') || true
    [[ $error == "$1" ]] || fail "\"${2:0:100}\": expected \"$1\", got \"$error\": $(grep Error /proc/kft || true)"
}
status() { cat /proc/kft; }
state() { sed -n 's/^State: //p' /proc/kft; }
is() { [[ $(state) == "$1" ]]; }
# kft CONFIGURATION COMMAND...: records the command, unless something else ends the recording, to ./log.
kft() {
    says "" "$1"
    expect_eq "the state" new "$(state)"
    says "" prime
    "${@:2}"
    echo stop >/proc/kft
    cat /proc/kft_data >log
    grep -E '^(Logging|Number|Execution|Other)' log
}
# lines FILE: the lines of its calls; calls [NAME]: how many ./log has; fields N NAME: the Nth words of those of NAME.
lines() { awk 'in_calls; /^--------/ { in_calls = 1 }' "$1"; }
calls() { lines log | awk -v name="${1:-}" 'name == "" || $4 == name { n++ } END { print n + 0 }'; }
fields() { lines log | awk -v n="$1" -v name="$2" '$4 == name { print $n }'; }

# shellcheck disable=SC2016,SC2034 # these are Perl's variables; the cases use both
forks='for (1..60) { my $p = fork; exit 0 unless $p; waitpid $p, 0 }'
# shellcheck disable=SC2034
list='filter funclist kernel_clone copy_process copy_creds wake_up_new_task fend filter task perl'
