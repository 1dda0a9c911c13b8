# shellcheck shell=bash disable=SC2154  # parts_name, parts_log: the sourcing script's
# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts whose parts each end with a line `N passed, N failed[, N skipped]`: they run them by `part`
# and end with `parts_end`, whose line counts all together. Before: parts_log, where the last
# part's output is kept, and parts_name, which stands before each part's title.
passed=0 failed=0 skipped=0

# add STATUS LINE: a part's last line, and its exit status.
add() {
    if [[ $2 =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
        [[ $1 -eq 0 || ${BASH_REMATCH[2]} -gt 0 ]] || failed=$((failed + 1))
    else
        echo "$parts_name: no count in: $2"
        failed=$((failed + 1))
    fi
}

# part WHAT COMMAND...
part() {
    local status=0
    echo "$parts_name: $1"
    "${@:2}" 2>&1 | tee "$parts_log" || status=$?
    add "$status" "$(tail -1 "$parts_log")"
}

parts_end() {
    echo "$passed passed, $failed failed$([[ $skipped -eq 0 ]] || echo ", $skipped skipped")"
    [[ $failed -eq 0 ]]
}
