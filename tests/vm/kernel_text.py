# SPDX-License-Identifier: GPL-2.0-only
"""kernel_text.py save FILE | compare FILE: keeps the kernel's text as it is in memory, or compares it with what was kept.

What the kernel itself changes (static branches, static calls, the function tracer's calls) may differ. Nothing may jump out of
the kernel, and no other instruction may have changed.
"""
import struct
import sys
import time


def text():
    """Returns (address, bytes)."""
    found = {}
    with open("/proc/kallsyms") as symbols:
        for line in symbols:
            address, _, name = line.split()[:3]
            if name in ("_stext", "_etext"):
                found[name] = int(address, 16)
            if len(found) == 2:
                break
    begin, size = found["_stext"], found["_etext"] - found["_stext"]
    with open("/proc/kcore", "rb") as core:
        header = core.read(64)
        (offset,), (count,) = struct.unpack_from("<Q", header, 32), struct.unpack_from("<H", header, 56)
        core.seek(offset)
        segments = core.read(56 * count)
        for at in range(0, 56 * count, 56):
            kind, _, offset, address, _, _, length, _ = struct.unpack_from("<IIQQQQQQ", segments, at)
            if kind == 1 and address <= begin < address + length:
                core.seek(offset + begin - address)
                return begin, core.read(size)
    raise SystemExit("kernel_text.py: /proc/kcore does not have the kernel's text")


def differences(old, new):
    """Returns (offset, length) of what differs."""
    found = []
    for block in range(0, len(old), 4096):
        if old[block : block + 4096] == new[block : block + 4096]:
            continue
        for at in range(block, min(block + 4096, len(old))):
            if old[at] == new[at]:
                continue
            if found and at - sum(found[-1]) < 3:
                found[-1] = (found[-1][0], at + 1 - found[-1][0])
            else:
                found.append((at, 1))
    return found


# Static branches, static calls and the function tracer's calls, on or off.
FORMS = [bytes.fromhex(form) for form in ("e8", "e9", "eb", "6690", "0f1f440000", "66660f1f00", "6631c0", "c3")]
# The kernel is smaller than this; modules lie farther away.
KERNEL_BYTES = 64 << 20


def is_own_change(old, new, at, size):
    """Whether the kernel changes its instructions so, and it does not jump out of the kernel."""
    for start in range(max(0, at - 4), at + 1):
        if at + size > start + 5 or not all(code.startswith(tuple(FORMS), start) for code in (old, new)):
            continue
        target = start + 5 + struct.unpack_from("<i", new, start + 1)[0]
        # The function tracer calls code outside of it.
        if new[start] != 0xE9 or 0 <= target < KERNEL_BYTES:
            return True
    return False


def main():
    begin, now = text()
    if sys.argv[1] == "save":
        open(sys.argv[2], "wb").write(now)
        return
    old = open(sys.argv[2], "rb").read()
    wrong = None
    # While an instruction is being changed, a breakpoint is there.
    for _ in range(5):
        changed = differences(old, now)
        found = {(at, size) for at, size in changed if not is_own_change(old, now, at, size)}
        wrong = found if wrong is None else wrong & found
        if not wrong:
            break
        time.sleep(0.3)
        now = text()[1]
    print(len(now) >> 10, "KiB of text compared,", len(changed), "places differ")
    if wrong:
        shown = [f"{begin + at:#x}: {old[at:at + size].hex()} became {now[at:at + size].hex()}" for at, size in sorted(wrong)[:5]]
        raise SystemExit("kernel_text.py: the kernel's text has changed: " + ", ".join(shown))


main()
