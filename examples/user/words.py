#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Counts the words of files, a thread for each: fkt_record --user-only -f words.fkt ./words.py FILE..."""
import sys
import threading

import fkt_user

read = fkt_user.Span("read", "path:text")
line_end = fkt_user.Event("line", "number:u32 words:u32")


def count(path, sums):
    words = 0
    with read(path), open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            words += len(line.split())
            line_end(number, words)
    fkt_user.probe(0x20, words)
    sums[path] = words


def main():
    sums = {}
    threads = [threading.Thread(target=count, args=(path, sums)) for path in sys.argv[1:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(sums.values()))


main()
