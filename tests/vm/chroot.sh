# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Directories with the compiler and the headers of another Debian suite, in which modules for its kernels are built:
# programs and options of the headers are those of their suite. Made of packages that are unpacked and not installed, used
# through chroot(2), by other users than root in a user namespace: neither root nor a change of the machine is needed.
# Needs tests/vm/apt.sh.
# shellcheck disable=SC2154  # state: the caller sets it

# What every package takes for granted, and what kbuild calls.
chroot_packages=(base-files bash binutils coreutils dash diffutils findutils gawk grep gzip kmod make sed tar xz-utils)

# make_chroot DIR PACKAGE...: unpacks the packages, and those that they depend on, from the suites of update_lists.
make_chroot() {
    local into=$1 package archives=$state/cache/archives
    shift
    : >"$state/status"
    private_apt apt-get -y --no-install-recommends --download-only -o Dir::State::status="$state/status" \
        -o Dir::State="$state" -o Debug::NoLocking=1 install "${chroot_packages[@]}" "$@" </dev/null >"$state/log" 2>&1 ||
        { tail -3 "$state/log" >&2; die "apt could not download: $*"; }
    mkdir -p "$into"
    # The first one has the links /bin and /lib.
    for package in "$archives"/base-files_*.deb "$archives"/*.deb; do
        dpkg -x "$package" "$into"
    done
    rm -f "$archives"/*.deb
    # What the packages' scripts would do.
    ln -sfn gawk "$into/usr/bin/awk"
    mkdir -p "$into"/{proc,dev,tmp}
}

# in_chroot DIR SHARED COMMAND...: runs the command there. SHARED: a directory that it sees under the same name.
in_chroot() {
    local as_root=()
    [[ $(id -u) -eq 0 ]] || as_root=(--map-root-user)
    # shellcheck disable=SC2016  # the other shell expands it
    unshare --mount "${as_root[@]}" bash -euc '
        root=$1 shared=$2
        mkdir -p "$root$shared"
        mount --rbind /proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --bind "$shared" "$root$shared"
        PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C exec /usr/sbin/chroot "$root" "${@:3}"' - "$@"
}

# build_for DIR SHARED ARGUMENT...: make with the headers and the compiler of the kernel in DIR (tests/vm/get-kernel). SHARED:
# a directory that has all that the build needs.
build_for() {
    if [[ -d $1/root ]]; then
        in_chroot "$1/root" "$2" make -C "/usr/src/linux-headers-$(<"$1/release")" "${@:3}"
    else
        make -C "$1/kdir" "${@:3}"
    fi </dev/null
}
