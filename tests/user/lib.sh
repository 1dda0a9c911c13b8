# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the scripts tests/user/NAME SOURCE BIN ... have in common. They source it with their arguments: SOURCE, the project's, and
# BIN, where the tools are. They go on in an empty directory, which is removed at the end.
source_dir=$1
# Debian's own programs come first: a version manager's python3 takes half a second to start.
PATH=$2:/usr/bin:$PATH
export PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

fail() { echo "${0##*/}: $*" >&2; exit 1; }
left_out() { echo "${0##*/}: left out: $*"; }
expect_eq() { [[ $2 == "$3" ]] || fail "$1: expected \"$2\", got \"$3\""; }
