# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For the cases that put breakpoints on the instructions of fkt.ko that reserve space; behind tests/vm/lib.sh.
need objdump objcopy

# Loads a copy of fkt.ko that takes breakpoints: the kernel refuses them in .kprobes.text (module/kprobes.lds).
load_probed() {
    # Breakpoints, not the jumps that the kernel would replace them with after a while.
    echo 0 >/proc/sys/debug/kprobes-optimization 2>/dev/null || true
    objcopy --rename-section .kprobes.text=.text "$FKT_KO" probed.ko
    unload_module
    insmod ./probed.ko
    objdump -d --no-show-raw-insn -j .text probed.ko | grep -E '>:$|cmpxchg' >disassembly
}

# sites REGEX: addresses of the reserving instructions in functions whose names match, or with ! do not match; but for what closes
# rings, with all probes ended.
sites() {
    awk -v base="$(</sys/module/fkt/sections/.text)" -v match_="$1" '
        /^[0-9a-f]+ <.*>:$/ { function_ = $2; next }
        /\tcmpxchg / && function_ !~ /fkt_capture|fkt_rings_close/ {
            wanted = substr(match_, 1, 1) == "!" ? function_ !~ substr(match_, 2) : function_ ~ match_
            if (wanted) { sub(/:$/, "", $1); print base, $1 }
        }' disassembly |
        while read -r base offset; do printf '0x%x\n' $((base + 0x$offset)); done | paste -sd,
}
