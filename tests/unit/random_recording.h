// SPDX-License-Identifier: GPL-2.0-only
// A recording of many small pages made by chance, the same for the same seed: tasks that call,
// sleep, wake, fork, exec, rename and exit on several CPUs, under interrupts, with losses.
#pragma once

#include <random>
#include <set>

#include "tests/unit/analyzed.h"

namespace fkt::test {

class RandomRecording {
 public:
  RandomRecording(unsigned seed, unsigned cpus, unsigned events) : random_(seed), cpus_(cpus) {
    for (const std::uint32_t tid : {42u, 43u, 44u, 45u, 46u, 47u}) sleeping_.insert(tid);
    builder_.section(FKT_SEC_TASKS,
                     "1\t1\t0\tinit\n2\t2\t0\tkthreadd\n10\t10\t1\tfkt_record\n42\t42\t10\twork\n"
                     "43\t42\t10\twork\n44\t44\t1\ta\\x09b\n45\t45\t2\tkworker\n46\t46\t1\tsh\n");
    running_.assign(cpus, 0);
    irq_.assign(cpus, 0);
    for (unsigned i = 0; i < events; i++) step();
  }
  TraceBuilder& builder() { return builder_; }
  Bytes finish() { return builder_.finish(); }
  std::uint64_t end() const { return clock_; }

 private:
  unsigned below(unsigned limit) {
    return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
  }

  // One event on one CPU, mostly a likely one.
  void step() {
    clock_ += 1 + below(300);
    const unsigned cpu = below(cpus_);
    const std::uint32_t task = running_[cpu];
    if (irq_[cpu] != 0) return end_irq(cpu);
    const unsigned what = below(100);
    if (what < 8) {
      begin_irq(cpu, what);
    } else if (what < 9 && below(10) == 0) {
      builder_.lost(cpu, clock_, clock_ + 50, 1 + below(9));
      clock_ += 50;
      in_call_.erase(task);
    } else if (what < 25) {
      change(cpu);
    } else if (task == 0) {
      builder_.event(cpu, clock_, FKT_E_NMI);
    } else if (in_call_.contains(task)) {
      leave(cpu, task, what);
    } else if (what < 90) {
      builder_.event(cpu, clock_, FKT_E_SYS_ENTRY, below(3) == 0 ? 39 : below(2));
      in_call_.insert(task);
    } else {
      builder_.event(cpu, clock_, FKT_E_FAULT_USER, 4, {0x1000, 0x2000});
    }
  }

  void begin_irq(unsigned cpu, unsigned what) {
    if (what < 3) {
      builder_.event(cpu, clock_, FKT_E_VECTOR_ENTRY, 0xec);
      irq_[cpu] = 0xec;
    } else if (what < 6) {
      builder_.event(cpu, clock_, FKT_E_IRQ_ENTRY_NAMED, 2, {14, chars(what < 5 ? "ide0" : "usb")});
      irq_[cpu] = 14;
    } else {
      builder_.event(cpu, clock_, FKT_E_SOFTIRQ_ENTRY, 9);
      irq_[cpu] = 9;
    }
  }

  void end_irq(unsigned cpu) {
    if (irq_[cpu] == 0xec) builder_.event(cpu, clock_, FKT_E_VECTOR_EXIT, 0xec);
    if (irq_[cpu] == 14) builder_.event(cpu, clock_, FKT_E_IRQ_EXIT, 14 | 1 << 22);
    if (irq_[cpu] == 9) builder_.event(cpu, clock_, FKT_E_SOFTIRQ_EXIT, 9);
    irq_[cpu] = 0;
  }

  void change(unsigned cpu) {
    const std::uint32_t task = running_[cpu];
    std::uint32_t next = 0;
    if (!sleeping_.empty() && below(4) != 0) {
      next = *std::next(sleeping_.begin(), below(static_cast<unsigned>(sleeping_.size())));
    }
    if (next == task) return;
    builder_.event(cpu, clock_, below(2) == 0 ? FKT_E_SWITCH_S : FKT_E_SWITCH_PREEMPT, next);
    sleeping_.erase(next);
    if (task != 0) sleeping_.insert(task);
    running_[cpu] = next;
  }

  void leave(unsigned cpu, std::uint32_t task, unsigned what) {
    if (what < 30) {
      const std::uint32_t child = next_tid_++;
      builder_.event(cpu, clock_, FKT_E_FORK, child, {pair(below(2) == 0 ? child : task, task)});
      sleeping_.insert(child);
      in_call_.insert(child);
    } else if (what < 33) {
      builder_.event(cpu, clock_, FKT_E_RENAME, task, {chars("new\\me"), 0});
    } else if (what < 36) {
      builder_.event(cpu, clock_, FKT_E_EXEC, 2, {pair(task, task), chars("/bin/x")});
    } else if (what < 40) {
      builder_.event(cpu, clock_, FKT_E_EXIT, 0, {pair(task, task)});
      clock_ += 5;
      builder_.event(cpu, clock_, FKT_E_SWITCH_Z, 0);
      running_[cpu] = 0;
      in_call_.erase(task);
      clock_ += 5;
      builder_.event(cpu, clock_, FKT_E_PID_FREE, task);
      if (below(2) == 0) next_tid_ = task;  // the number comes back
    } else {
      builder_.event(cpu, clock_, FKT_E_SYS_EXIT, below(20));
      in_call_.erase(task);
    }
  }

  std::mt19937 random_;
  TraceBuilder builder_;
  unsigned cpus_;
  std::uint64_t clock_ = TraceBuilder::kStart + 1000;
  std::uint32_t next_tid_ = 100;
  std::vector<std::uint32_t> running_, irq_;
  std::set<std::uint32_t> sleeping_, in_call_;
};

}  // namespace fkt::test
