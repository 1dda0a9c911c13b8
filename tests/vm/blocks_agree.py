#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/vm/blocks_agree.py FKT_BLOCKS.json [KCORE]: compares the instructions that `fkt_blocks --json --code`
# found with those that objdump finds in the same bytes, which are read from the kernel's memory. Prints how
# many functions and instructions are equal, and the names of those that differ.
import json
import struct
import subprocess
import sys


class Memory:
    def __init__(self, path):
        self.file = open(path, 'rb')
        header = self.file.read(64)
        at, size, count = struct.unpack_from('<Q', header, 32)[0], *struct.unpack_from('<HH', header, 54)
        self.segments = []
        for i in range(count):
            self.file.seek(at + i * size)
            kind, _, offset, address, _, _, length = struct.unpack_from('<IIQQQQQ', self.file.read(size))
            if kind == 1:
                self.segments.append((address, length, offset))

    def read(self, address, count):
        for begin, length, offset in self.segments:
            if begin <= address < begin + length:
                self.file.seek(offset + address - begin)
                return self.file.read(count)
        return b''


def stretches(function):
    """The blocks' instructions, put together where one follows another: (address, [bytes of each])."""
    found = []
    for block in function['blocks']:
        lengths = [one['bytes'] for one in block['code']]
        if found and found[-1][0] + sum(found[-1][1]) == block['address']:
            found[-1][1].extend(lengths)
        else:
            found.append((block['address'], lengths))
    return found


memory = Memory(sys.argv[2] if len(sys.argv) > 2 else '/proc/kcore')
wanted = []
# Each stretch is followed by nops, so that a wrong end does not spoil the next one.
with open('blocks.bin', 'wb') as blob:
    for function in json.load(open(sys.argv[1])):
        for address, lengths in stretches(function):
            wanted.append((function['function'], address, blob.tell(), lengths))
            blob.write(memory.read(address, sum(lengths)) + b'\x90' * 16)
dump = subprocess.run(['objdump', '-D', '-w', '-b', 'binary', '-m', 'i386:x86-64', 'blocks.bin'],
                      capture_output=True, text=True, check=True).stdout
begins = set()
for line in dump.splitlines():
    offset, colon, rest = line.partition(':\t')
    # objdump shows prefixes that it finds odd on a line of their own, as an instruction.
    if colon:
        begins.add(int(offset, 16))
equal = different = instructions = 0
for name, address, at, lengths in wanted:
    mine = set()
    for length in lengths:
        mine.add(at)
        at += length
    first = min(mine)
    theirs = {offset for offset in range(first, at) if offset in begins}
    if mine == theirs and at in begins:
        equal += 1
        instructions += len(mine)
    else:
        different += 1
        odd = min(mine ^ theirs, default=at)
        print(f'differs: {name} {address:#x}+{odd - first:#x}')
print(f'{equal} stretches equal, {instructions} instructions, {different} different')
sys.exit(1 if different else 0)
