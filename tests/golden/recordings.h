// SPDX-License-Identifier: GPL-2.0-only
// Generates the golden .fkt files word by word. tests/unit/cli/golden_test.cc checks that the files
// are equal to these, and that the output of fkt_print is equal to the text files beside them.
#pragma once

#include <cstring>

#include "lib/format/page_group.h"
#include "tests/unit/analyzed.h"

namespace fkt::test {

// Returns a recording in which find reads an inode that is not cached and sleeps until the disk's
// interrupt wakes it. Also a fork, an exec, an exit, a thread, a 32-bit call and faults.
// group_pages: pages per compressed group; 0: not compressed.
inline Bytes find_recording(std::size_t group_pages = 0) {
  constexpr std::uint64_t T = RecordingBuilder::kStart;
  RecordingBuilder b;
  b.in_groups(group_pages);
  b.section(FKT_SEC_TASKS,
            "1\t1\t0\tinit\n2\t2\t0\tkthreadd\n9\t9\t2\tfkt_drain/0\n10\t10\t1\tfkt_record\n"
            "42\t42\t10\tsh\n");
  b.section(FKT_SEC_SYSCALLS,
            "64\t0\tread\n64\t6\tlstat\n64\t56\tclone\n64\t59\texecve\n64\t60\texit\n"
            "64\t61\twait4\n64\t231\texit_group\n32\t20\tgetpid\n");
  b.section(FKT_SEC_INTERRUPTS, "14\tide0\t7\n");
  b.section(FKT_SEC_SYMBOLS, "ffffffff81000000\tt\tdo_one_thing\t\n");
  b.pid(0, 42).pid(1, 0);
  // sh forks and waits for its child.
  b.event(0, T + 1000, FKT_E_SYS_ENTRY, 56);
  b.event(0, T + 1400, FKT_E_FORK, 730, {pair(730, 42)});
  b.event(0, T + 1450, FKT_E_WAKEUP_NEW, 730, {1});
  b.event(0, T + 1600, FKT_E_SYS_EXIT, 730);
  b.event(0, T + 1700, FKT_E_SYS_ENTRY, 61);
  b.event(0, T + 1900, FKT_E_SWITCH_S, 0);
  // The child executes find, on CPU 1.
  b.event(1, T + 1500, FKT_E_VECTOR_ENTRY, 0xfd);
  b.event(1, T + 1550, FKT_E_VECTOR_EXIT, 0xfd);
  b.event(1, T + 1600, FKT_E_SWITCH_R, 730);
  b.event(1, T + 1650, FKT_E_SYS_EXIT, 0);
  b.event(1, T + 1700, FKT_E_SYS_ENTRY, 59);
  b.event(1, T + 1900, FKT_E_RENAME, 730, {chars("find"), 0});
  b.event(1, T + 1950, FKT_E_EXEC, 4, {pair(730, 730), chars("/usr/bin"), chars("/find"), 0});
  b.event(1, T + 2100, FKT_E_SYS_EXIT, 0);
  b.event(1, T + 2200, FKT_E_FAULT_USER, 0x14, {0x401000, 0x401000});
  // lstat sleeps until the disk has answered.
  b.event(1, T + 3000, FKT_E_SYS_ENTRY, 6);
  b.event(1, T + 3100, FKT_E_FAULT_KERNEL, 0x2, {0x7fff1000, 0xffffffff8100001c});
  b.event(1, T + 24000, FKT_E_SWITCH_D, 0);
  b.event(1, T + 112845, FKT_E_IRQ_ENTRY, 14);
  b.event(1, T + 118234, FKT_E_WAKING, 730);
  b.event(1, T + 118300, FKT_E_WAKEUP, 730, {1});
  b.event(1, T + 120874, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  b.event(1, T + 120900, FKT_E_SOFTIRQ_RAISE, 9);
  b.event(1, T + 121000, FKT_E_SOFTIRQ_ENTRY, 9);
  b.event(1, T + 121100, FKT_E_SOFTIRQ_EXIT, 9);
  b.event(1, T + 121387, FKT_E_SWITCH_R, 730);
  b.event(1, T + 125365, FKT_E_SYS_EXIT, static_cast<std::uint32_t>(-2) & FKT_ARG_MASK);
  b.event(1, T + 126000, FKT_E_SYS32_ENTRY, 20);
  b.event(1, T + 126100, FKT_E_SYS32_EXIT, 730);
  b.event(1, T + 126200, FKT_E_SYS_ENTRY_ARGS, 0, {0, 3, 0x7fff0000, 4096, 0, 0, 0});
  b.event(1, T + 126300, FKT_E_VECTOR_ENTRY, 0xec);
  b.event(1, T + 126350, FKT_E_SOFTIRQ_RAISE, 1);
  b.event(1, T + 126400, FKT_E_VECTOR_EXIT, 0xec);
  b.event(1, T + 126410, FKT_E_SOFTIRQ_ENTRY, 1);
  b.event(1, T + 126500, FKT_E_SOFTIRQ_EXIT, 1);
  b.event(1, T + 126600, FKT_E_SYS_EXIT_LONG, 0, {0x123456789});
  b.event(1, T + 127000, FKT_E_SYS_ENTRY, 231);
  b.event(1, T + 127100, FKT_E_EXIT, 1 << 8, {pair(730, 730)});
  b.event(1, T + 127200, FKT_E_WAKING, 42);
  b.event(1, T + 127300, FKT_E_SWITCH_Z, 9);
  b.event(1, T + 127900, FKT_E_SWITCH_I, 0);
  // sh reaps its child and exits.
  b.event(0, T + 127400, FKT_E_SWITCH_R, 42);
  b.event(0, T + 127500, FKT_E_PID_FREE, 730);
  b.event(0, T + 127600, FKT_E_SYS_EXIT, 730);
  b.event(0, T + 128000, FKT_E_SYS_ENTRY, 231);
  b.event(0, T + 128100, FKT_E_EXIT, 11, {pair(42, 42)});
  b.event(0, T + 128300, FKT_E_SWITCH_Z, 10);
  b.event(0, T + 128800, FKT_E_CLOCK, 0, {129000, 129000, RecordingBuilder::kStartReal + 129000});
  b.event(0, T + 129000, FKT_E_SYS_EXIT, 0);
  return b.finish();
}

// A defective recording: lost events, a missing page, a damaged page, no tail.
inline Bytes broken_recording() {
  constexpr std::uint64_t T = RecordingBuilder::kStart;
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 1000, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 1500, FKT_E_SYS_EXIT, 10);
  b.event(0, T + 2000, FKT_E_SYS_ENTRY, 0);
  b.lost(0, T + 2100, T + 9000, 1234);
  b.event(0, T + 9100, FKT_E_SYS_EXIT, 10);
  b.event(0, T + 9200, FKT_E_SYS_ENTRY, 39);
  b.event(0, T + 9300, FKT_E_SYS_EXIT, 42);
  b.skip_pages(0, 2);
  b.event(0, T + 20000, FKT_E_SYS_ENTRY, 39);
  b.event(0, T + 20100, FKT_E_SYS_EXIT, 42);
  b.event(1, T + 1200, FKT_E_VECTOR_ENTRY, 0xec);
  b.event(1, T + 1300, FKT_E_VECTOR_EXIT, 0xec);
  b.close_page(1);
  b.event(1, T + 5000, FKT_E_VECTOR_ENTRY, 0xec);
  b.close_page(1);
  b.event(1, T + 8000, FKT_E_NMI);
  Bytes file = b.finish(RecordingBuilder::Tail::none);
  // Damages the header of CPU 1's second page, so that its checksum is wrong.
  for (std::uint64_t page = b.pages_offset(); page < file.size(); page += 4096) {
    auto header = RecordingBuilder::get<fkt_page_header>(file, page);
    if (header.cpu == 1 && header.seq == 1)
      RecordingBuilder::put(file, page + 48, std::uint64_t{1});
  }
  return file;
}

// find_recording() in compressed groups, with the group of CPU 1's page damaged.
inline Bytes broken_group_recording() {
  Bytes file = find_recording(1);
  std::size_t groups = 0;
  for (std::size_t at = 0; at < file.size(); at += FKT_FILE_ALIGN) {
    const bool begins = group_begins(file, at);
    if (begins && ++groups == 2) file[at + sizeof(fkt_group_header) + 20] ^= std::byte{1};
  }
  return file;
}

// A program whose functions are recorded with what the kernel does: in a system call, interrupted,
// asleep and on another CPU afterwards, preempted by a thread of its own; a function that never
// ends.
inline Bytes functions_recording() {
  constexpr std::uint64_t T = RecordingBuilder::kStart;
  constexpr std::uint32_t kWork = 8192, kOne = 8193, kSave = 8194, kRest = 8195, kEndless = 8196;
  RecordingBuilder b;
  b.section(FKT_SEC_COMMAND,
            R"({"recorder_pid":10,"workload_pid":42,"command":["work"],"mask":8589935617,)"
            R"("args":false,"filter":"none","filter_pid":0})");
  b.section(FKT_SEC_TASKS,
            "1\t1\t0\tinit\n10\t10\t1\tfkt_record\n42\t42\t10\twork\n43\t42\t10\twork\n");
  b.section(FKT_SEC_SYSCALLS, "64\t1\twrite\n64\t35\tnanosleep\n64\t39\tgetpid\n");
  b.section(FKT_SEC_DEFINITIONS,
            "name\tuser\t8192\twork\nname\tuser\t8193\tone_round\nname\tuser\t8194\tsave\n"
            "name\tuser\t8195\trest\nname\tuser\t8196\tendless\n");
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 100, FKT_E_USER_BEGIN, kWork);
  b.event(0, T + 220, FKT_E_USER_BEGIN, kOne);
  b.event(0, T + 300, FKT_E_USER_BEGIN, kSave);
  b.event(0, T + 310, FKT_E_SYS_ENTRY, 1);
  b.event(0, T + 450, FKT_E_SYS_EXIT, 1);
  b.event(0, T + 500, FKT_E_VECTOR_ENTRY, 0xfd);
  b.event(0, T + 540, FKT_E_VECTOR_EXIT, 0xfd);
  b.event(0, T + 600, FKT_E_USER_END, kSave);
  b.event(0, T + 700, FKT_E_USER_BEGIN, kRest);
  b.event(0, T + 750, FKT_E_SYS_ENTRY, 35);
  b.event(0, T + 800, FKT_E_SWITCH_S, 0);
  b.event(0, T + 5000, FKT_E_VECTOR_ENTRY, 0xfd);
  b.event(0, T + 5010, FKT_E_WAKING, 42);
  b.event(0, T + 5050, FKT_E_VECTOR_EXIT, 0xfd);
  b.event(1, T + 5100, FKT_E_SWITCH_R, 42);
  b.event(1, T + 5200, FKT_E_SYS_EXIT, 0);
  b.event(1, T + 5320, FKT_E_USER_END, kRest);
  b.event(1, T + 5500, FKT_E_SWITCH_PREEMPT, 43);
  b.event(1, T + 5550, FKT_E_USER_BEGIN, kSave);
  b.event(1, T + 5600, FKT_E_SYS_ENTRY, 39);
  b.event(1, T + 5610, FKT_E_SYS_EXIT, 42);
  b.event(1, T + 5700, FKT_E_USER_END, kSave);
  b.event(1, T + 5900, FKT_E_SWITCH_R, 42);
  b.event(1, T + 6000, FKT_E_USER_END, kOne);
  b.event(1, T + 6100, FKT_E_USER_END, kWork);
  b.event(1, T + 6200, FKT_E_USER_BEGIN, kEndless);
  b.event(1, T + 6300, FKT_E_SYS_ENTRY, 1);
  b.event(1, T + 6400, FKT_E_SYS_EXIT, 1);
  return b.finish();
}

}  // namespace fkt::test
