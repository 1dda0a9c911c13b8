# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154  # state: the caller sets it
#
# Packages of Debian for tests/vm/get-*, sourced by them: through a private apt
# configuration derived from the machine's own sources, so that nothing on the
# machine changes and neither root nor a host name is needed. The caller sets
# `state`, a directory of its own, has die(), and calls update_lists SUITE... first.

codename=bookworm

# Where the machine gets SUITE from: apt itself reads the sources, whatever
# their format, and lists what an update would fetch. Backports, which few use,
# and other releases, lie beside the main suite; the archive that has -updates too is Debian's,
# other projects' archives like to name their suites after Debian's.
uris_of() {
    local suite=$1 listed
    listed=$(apt-get update --print-uris -o Dir::State::Lists="$state/none" 2>/dev/null |
             sed -n "s|^'\(.*\)/dists/\([^']*\)/InRelease'.*|\2 \1|p")
    awk -v suite="$suite" -v main="$codename" '
        { uris[$1] = uris[$1] " " $2 }
        END {
            from = suite ~ /-security$/ ? main "-security" : (main "-updates") in uris ? main "-updates" : main
            count = split(uris[from], list, " ")
            for (i = 1; i <= count; i++) if (!seen[list[i]]++) print list[i]
        }' <<<"$listed"
}

write_sources() {
    local suite uri options="target=Packages"
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [[ ! -r $keyring ]] || options+=" signed-by=$keyring"
    for suite in "$@"; do
        for uri in $(uris_of "$suite"); do
            echo "deb [$options] $uri $suite main"
        done
    done >"$state/sources.list"
    [[ -s $state/sources.list ]] || die "this machine's apt sources name no Debian $codename for: $*"
}

private_apt() {
    local command=$1
    shift
    "$command" -q -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" \
        -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
        -o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=3 \
        -o APT::Architecture=amd64 "$@"
}

# What went wrong in the last step, in apt's own words.
complaints() { grep -E '^[WE]:' "$state/log" | tail -3 || true; }

update_lists() {
    [[ $(dpkg --print-architecture) == amd64 ]] || die "only amd64 machines are supported"
    mkdir -p "$state"/{none/partial,lists/partial,cache/archives/partial,debs,tree}
    write_sources "$@"
    private_apt apt-get update </dev/null >"$state/log" 2>&1 ||
        { complaints >&2; die "apt could not fetch the package lists of: $*"; }
}

# Into $state/debs.
download() {
    (cd "$state/debs" && private_apt apt-get download "$@") </dev/null >"$state/log" 2>&1 ||
        { tail -3 "$state/log" >&2; die "apt could not download: $*"; }
}
