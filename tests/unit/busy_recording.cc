// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/busy_recording.h"

namespace fkt::test {

BusyRecording::BusyRecording(unsigned seed, unsigned cpus, unsigned turns)
    : random_(seed), user_(seed % 2 != 0), cpus_(cpus) {
  clocks_.assign(cpus, RecordingBuilder::kStart + 10);
  running_.resize(cpus);
  for (unsigned cpu = 0; cpu < cpus; cpu++) running_[cpu] = 100 + cpu;
  builder_.section(FKT_SEC_CATALOGUE, catalogue());
  for (unsigned i = 0; i < turns; i++) turn(below(cpus));
}

std::string BusyRecording::catalogue() {
  return RandomRecording::catalogue() +
         "span\tuser_function\tuser\n"
         "event\t104\tfunction\t0\tbegin:function\t0\tnr:functions:0:0:24:key\n"
         "event\t105\tfunction_end\t0\tend:function\t0\tnr:functions:0:0:24:key\n"
         "event\t106\tfunction\t0\tbegin:function\t1\tnr:functions:1:0:64:key\n"
         "event\t107\tfunction_end\t0\tend:function\t1\tnr:functions:1:0:64:key\n"
         "event\t108\tuser\t0\tbegin:user_function\t0\tnr:u:0:0:24:key\n"
         "event\t109\tuser_end\t0\tend:user_function\t0\t\n"
         "pair\tf00\t64\t104\t105\tnumber\n"
         "name\tfunctions\t3\tvfs_write\n"
         "name\tfunctions\t49999\tkmalloc\n";
}

void BusyRecording::event(unsigned cpu, std::uint32_t id, std::uint32_t arg,
                          std::initializer_list<std::uint64_t> words) {
  clocks_[cpu] += 1 + below(below(100) == 0 ? 1'000'000'000 : 100);
  builder_.event(cpu, clocks_[cpu], id, arg, words);
}

void BusyRecording::pair(unsigned cpu) {
  const std::uint32_t which = below(4);
  const std::uint32_t ticks = 1 + below(50);
  if (which == 0) event(cpu, FKT_P_SYSCALL + below(3), fkt_pair_arg(ticks, -2));
  if (which == 1) event(cpu, FKT_P_IRQ + 14, below(8) == 0 ? 0 : fkt_pair_arg(ticks, 1));
  if (which == 2) event(cpu, FKT_P_SOFTIRQ + 9, fkt_pair_arg(ticks, 0));
  if (which == 3) event(cpu, 0xf00 + below(64), below(8) == 0 ? 0 : fkt_pair_arg(ticks, 0));
  clocks_[cpu] += 60;
}

void BusyRecording::interrupt(unsigned cpu, unsigned depth) {
  const bool soft = below(2) == 0;
  event(cpu, soft ? FKT_E_SOFTIRQ_ENTRY : FKT_E_VECTOR_ENTRY, soft ? 9 : 0xec);
  for (unsigned i = below(3); i > 0; i--) event(cpu, FKT_E_WAKING, 100 + below(8));
  if (depth < 3 && below(3) == 0) interrupt(cpu, depth + 1);
  if (below(6) == 0) function(cpu, depth + 1);
  if (below(40) == 0) return;  // its end is not recorded
  event(cpu, soft ? FKT_E_SOFTIRQ_EXIT : FKT_E_VECTOR_EXIT, soft ? 9 : 0xec);
}

void BusyRecording::function(unsigned cpu, unsigned depth) {
  const std::uint32_t begin = 0x100 + 2 * below(4);
  const bool keyed = begin >= 0x104, in_word = begin == 0x106;
  const std::uint32_t key = !keyed ? 0 : below(3) == 0 ? below(50'000) : below(8);
  const auto put = [&](std::uint32_t id) {
    in_word ? event(cpu, id, 0, {key}) : event(cpu, id, key);
  };
  put(begin);
  for (unsigned i = below(4); i > 0; i--) event(cpu, FKT_E_WAKING, 100 + below(8));
  if (below(3) == 0) pair(cpu);
  if (depth < 3 && below(3) == 0) interrupt(cpu, depth + 1);
  if (depth < 3 && below(3) == 0) function(cpu, depth + 1);
  if (below(40) != 0) put(begin + 1);  // else its end is not recorded
  if (below(60) == 0) event(cpu, below(2) == 0 ? 0x101 : 0x105);
}

void BusyRecording::user_function(unsigned cpu, unsigned depth) {
  event(cpu, 0x108, below(5));
  for (unsigned i = below(3); i > 0; i--) pair(cpu);
  if (below(2) == 0) {
    event(cpu, FKT_E_SYS_ENTRY, below(4));
    if (below(3) == 0) function(cpu, 0);
    if (below(20) != 0) event(cpu, FKT_E_SYS_EXIT, 0);
  }
  if (below(4) == 0) interrupt(cpu, 0);
  if (below(20) == 0) event(cpu, FKT_E_EXEC, 2, {fkt::test::pair(running_[cpu], running_[cpu]), 0});
  if (depth < 3 && below(3) == 0) user_function(cpu, depth + 1);
  if (below(8) == 0) migrate(cpu);
  if (below(30) != 0) event(cpu, 0x109);  // else its end is not recorded
}

void BusyRecording::turn(unsigned cpu) {
  for (unsigned i = below(6); i > 0; i--) {
    const std::uint32_t what = below(12);
    if (what < 3) pair(cpu);
    if (what == 3) interrupt(cpu, 0);
    if (what == 4) event(cpu, FKT_E_FAULT_USER, 4, {1, 2});
    if (what == 4 && below(4) == 0) function(cpu, 0);
    if (what < 5) continue;
    event(cpu, FKT_E_SYS_ENTRY, what % 4);
    if (what == 5) interrupt(cpu, 0);
    if (what == 6) event(cpu, FKT_E_FAULT_USER, 4, {1, 2});
    if (what == 7 && below(3) == 0) function(cpu, 0);
    if (below(30) != 0) event(cpu, FKT_E_SYS_EXIT, 0);
  }
  if (below(200) == 0) {
    clocks_[cpu] += 100;
    builder_.lost(cpu, clocks_[cpu] - 80, clocks_[cpu], 3);
  }
  if (below(300) == 0) event(cpu, FKT_E_MASK, 0, {1025});
  if (below(2) == 0) migrate(cpu);
  if (user_ && below(12) == 0) user_function(cpu, 0);
}

void BusyRecording::migrate(unsigned cpu) {
  const unsigned other = below(cpus_);
  const std::uint32_t next = running_[other];
  event(cpu, FKT_E_SYS_ENTRY, 0);
  event(cpu, FKT_E_SWITCH_S, next);
  if (below(10) != 0) clocks_[other] = std::max(clocks_[other], clocks_[cpu]);
  std::swap(running_[cpu], running_[other]);
  if (other != cpu) event(other, FKT_E_SWITCH_R, running_[other]);
  event(cpu, FKT_E_SYS_EXIT, 1);
}

}  // namespace fkt::test
