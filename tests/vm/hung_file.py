#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# hung_file.py FOLDER mounts a file system whose only file, "file", can be opened and mapped, but never read: whoever touches
# its memory waits until this program is killed. Prints "mounted".
import ctypes
import errno
import os
import struct
import sys

LOOKUP, GETATTR, OPEN, READ, INIT = 1, 3, 14, 15, 26
SIZE = 4096

libc = ctypes.CDLL(None, use_errno=True)


def attributes(node):
    mode = 0o40755 if node == 1 else 0o100644
    return struct.pack("<6Q10I", node, SIZE, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(opcode, node):
    if opcode == INIT:
        return struct.pack("<IIIIHHII", 7, 23, 0, 0, 8, 6, 4096, 0) + bytes(36)
    if opcode == LOOKUP:
        return struct.pack("<QQQQII", 2, 0, 60, 60, 0, 0) + attributes(2)
    if opcode == GETATTR:
        return struct.pack("<QII", 60, 0, 0) + attributes(node)
    if opcode == OPEN:
        return struct.pack("<QII", 0, 0, 0)
    return None


device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if libc.mount(b"hung", sys.argv[1].encode(), b"fuse", 0, options):
    sys.exit(f"hung_file.py: mount: {os.strerror(ctypes.get_errno())}")
print("mounted", flush=True)
while True:
    request = os.read(device, 135168)
    _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
    if opcode == READ:
        continue
    body = answer(opcode, node)
    error = 0 if body is not None else -errno.ENOSYS
    body = body or b""
    try:
        os.write(device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
    except OSError:  # a request that needs no answer
        pass
