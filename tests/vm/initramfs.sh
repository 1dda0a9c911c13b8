# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Guests that start as a machine with initramfs-tools does: from an initramfs with packaging/initramfs/, which mounts an
# image as the root and gives way to it. The script that reads this file has set $checkout, $FKT_BUILD and $kernel.
# shellcheck disable=SC2154

# What the machine's configuration of initramfs-tools is for the guest: $conf.
make_configuration() {
    local conf=$1
    mkdir -p "$conf"/{hooks,scripts/init-top,scripts/init-bottom}
    printf 'MODULES=list\nBUSYBOX=auto\nCOMPRESS=gzip\nRUNSIZE=40%%\n' >"$conf/initramfs.conf"
    printf '%s\n' virtio_pci virtio_console virtio_blk crc32c_generic ext4 >"$conf/modules"
    : >"$conf/update-initramfs.conf"
    cp "$checkout/packaging/initramfs/hook" "$conf/hooks/fkt"
    cp "$checkout/packaging/initramfs/init-top" "$conf/scripts/init-top/fkt"
    cat >"$conf/hooks/guest" <<END
#!/bin/sh
[ "\$1" != prereqs ] || exit 0
mkdir -p "\$DESTDIR/guest"
cp '$checkout/tests/vm/guest-init' "\$DESTDIR/guest/init"
cp '$(command -v busybox)' "\$DESTDIR/guest/busybox"
END
    # Without udev nothing else moves /dev. 7 pipes are made here, and 5 in the root.
    cat >"$conf/scripts/init-bottom/guest" <<'END'
#!/bin/sh
[ "$1" != prereqs ] || { echo udev; exit 0; }
mount -o remount,exec /run
mkdir /run/fkt-vm
cp /guest/* /job /command /run/fkt-vm
printf '#!/run/fkt-vm/busybox sh\nexec /run/fkt-vm/busybox sh /run/fkt-vm/init stage2\n' >/run/fkt-vm/start
chmod +x /run/fkt-vm/*
for i in 1 2 3 4 5 6 7; do /guest/busybox mkfifo "/run/first$i"; done
echo "guest: in the initramfs" >/dev/kmsg
[ -c "$rootmnt/dev/null" ] || mount -n -o move /dev "$rootmnt/dev"
END
    chmod +x "$conf"/hooks/* "$conf"/scripts/*/*
}

# make_initramfs KERNEL WORK: makes WORK/initramfs, in a mount namespace of its own, which has the kernel's modules and fkt.ko
# where mkinitramfs looks for them.
make_initramfs() {
    local vm release work=$2
    vm=$("$checkout/tests/vm/get-kernel" "$1" --print-dir)
    release=$(<"$vm/release")
    "$checkout/tests/vm/build-module" "$1" >/dev/null
    make_configuration "$work/conf"
    mkdir -p "$work"/{stack/modules/"$release",changes,overlay,modules}
    # shellcheck disable=SC2016  # the other shell expands it
    unshare --mount --map-root-user bash -euc '
        vm=$1 release=$2 work=$3
        mount -t overlay overlay -o "lowerdir=$vm/lib/modules/$release,upperdir=$work/changes,workdir=$work/overlay" "$work/modules"
        mkdir -p "$work/modules/extra"
        cp "$vm"/src/module/*.ko "$work/modules/extra/"
        mount -t overlay overlay -o "lowerdir=$work/stack:/usr/lib" /usr/lib
        mount --bind "$work/modules" "/usr/lib/modules/$release"
        # Where "make install" puts fkt_record.
        mount --bind "$FKT_BUILD/bin" /usr/local/bin
        mount -t tmpfs tmpfs /boot
        cp "$vm/kdir/.config" "/boot/config-$release"
        depmod "$release"
        mkinitramfs -d "$work/conf" -o "$work/initramfs" "$release"
        # Another archive follows, where the kernel looks for it.
        truncate -s %4 "$work/initramfs"' - "$vm" "$release" "$work"
}

# start_guest INITRAMFS [OPTION...] --cmdline TEXT -- COMMAND...: with TEXT on the kernel's command line, besides what the root
# needs. Options: of tests/vm/run.
start_guest() {
    local initramfs=$1 options=()
    shift
    while [[ $1 != --cmdline ]]; do options+=("$1"); shift; done
    "$checkout/tests/vm/run" --kernel "$kernel" --initramfs "$initramfs" "${options[@]}" \
        --cmdline "root=/dev/vdb rootfstype=ext4 ro init=/run/fkt-vm/start $2" "${@:3}"
}
