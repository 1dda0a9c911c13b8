# shellcheck shell=bash disable=SC2154,SC2030,SC2031  # parts_name, checkout, FKT_BUILD: the sourcing script's
# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts whose parts each end with a line `N passed, N failed[, N skipped]`: they call parts_begin, run
# the parts by `part` and end with parts_end, whose line counts all together. Before: parts_name, which is
# printed before each part's title; checkout and FKT_BUILD, the absolute paths of the source and the build.
#
# $parts_log has the output of the part that runs or ran last. $parts_results has the outcome of every run, the
# last one at the end: when it began, of which commit, and for each part when it ended, its seconds and its
# count. A line is written as soon as its part has ended, so a run that is interrupted leaves what it found.
#
# With parts_kept, a file in the repository, that file has a line for each part's last run (title, date, commit, seconds,
# count, separated by tabs), for the commit after the run.
parts_log=$FKT_BUILD/$parts_name.log
parts_results=$FKT_BUILD/$parts_name.results
passed=0 failed=0 skipped=0

# result TEXT: a line of $parts_results, with the date.
result() { echo "$(date -u '+%Y-%m-%d %H:%M:%S UTC')  $1" >>"$parts_results"; }

# keep SECONDS OUTCOME LINE TITLE: the part's line of $parts_kept, in the place of the one of its last run.
keep() {
    { awk -F '\t' -v title="$4" '$1 != title' "$parts_kept" 2>/dev/null || true
      printf '%s\t%s\t%s\t%s\t%s\n' "$4" "$(date -u +%F)" "$parts_commit" "$1" "$2: $3"; } >"$parts_kept.new"
    mv "$parts_kept.new" "$parts_kept"
}

parts_begin() {
    local commit changes=
    parts_commit=$(git -C "$checkout" describe --always --exclude '*' 2>/dev/null) || parts_commit=unknown
    mkdir -p "$FKT_BUILD"
    commit=$(git -C "$checkout" log -1 --format='%h "%s"' 2>/dev/null) || commit="no commit known"
    [[ -z $(git -C "$checkout" status --porcelain -- . ':!tests/*.tsv' 2>/dev/null) ]] ||
        { changes=", with changes"; parts_commit+="+changes"; }
    result "begins: $commit$changes"
}

# add SECONDS STATUS LINE TITLE: a part that has ended, with its exit status and its last line.
add() {
    local outcome=ok
    if [[ $3 =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
        if [[ $2 -ne 0 || ${BASH_REMATCH[2]} -gt 0 ]]; then outcome=FAIL; fi
        [[ $2 -eq 0 || ${BASH_REMATCH[2]} -gt 0 ]] || failed=$((failed + 1))
    else
        echo "$parts_name: no count in: $3"
        failed=$((failed + 1))
        outcome=FAIL
    fi
    result "$(printf '%-4s  %5d s  %s: %s' "$outcome" "$1" "$4" "$3")"
    [[ -z ${parts_kept:-} ]] || keep "$1" "$outcome" "$3" "$4"
}

# part TITLE COMMAND...
part() {
    local status=0 begin=$SECONDS
    echo "$parts_name: $1"
    "${@:2}" 2>&1 | tee "$parts_log" || status=$?
    add $((SECONDS - begin)) "$status" "$(tail -1 "$parts_log")" "$1"
}

# one TITLE COMMAND...: a part whose command prints no count: it passes if the command succeeds.
one() {
    part "$1" bash -c 'if "$@"; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; fi' one "${@:2}"
}

# aside FUNCTION: runs a function that calls `part` beside what follows; joined() prints what that has printed, and adds its
# counts.
aside() {
    rm -f "$parts_log.aside.counts"
    # A process group of its own, which the trap ends if this script ends first.
    set -m
    (
        passed=0 failed=0 skipped=0 parts_log=$parts_log.aside
        "$1"
        echo "$passed $failed $skipped" >"$parts_log.counts"
    ) >"$parts_log.beside" 2>&1 </dev/null &
    set +m
    parts_aside=$!
    trap 'kill -- -$parts_aside 2>/dev/null || true' EXIT
}

joined() {
    local counts
    wait "$parts_aside" || true
    trap - EXIT
    cat "$parts_log.beside"
    read -r -a counts <"$parts_log.aside.counts" 2>/dev/null || counts=(0 1 0)
    rm -f "$parts_log.aside.counts"
    passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
}

# unit_tests FOLDER OPTION...: ctest there; its last line is the count, from ctest's one-line results.
unit_tests() {
    local status=0 log
    log=$(mktemp)
    ctest --test-dir "$1" --output-on-failure --no-tests=error "${@:2}" 2>&1 | tee "$log" || status=$?
    awk '/^ *[0-9]+\/[0-9]+ Test +#/ {
            if (/Skipped/) skipped++
            else if (/ Passed /) passed++
            else failed++
         }
         END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$log"
    rm -f "$log"
    return "$status"
}

parts_end() {
    local count
    count="$passed passed, $failed failed$([[ $skipped -eq 0 ]] || echo ", $skipped skipped")"
    result "ends, after $SECONDS s: $count"
    echo "$parts_name: where the time went:"
    # The lines since the last one that begins a run, without their dates.
    awk -v name="$parts_name" '/ begins: / { n = 0 } { sub(/^[^ ]* [^ ]* UTC/, name ":"); line[n++] = $0 }
        END { for (i = 0; i < n; i++) print line[i] }' "$parts_results"
    echo "$count"
    [[ $failed -eq 0 ]]
}
