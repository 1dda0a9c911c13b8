// SPDX-License-Identifier: GPL-2.0-only
// Random recordings with many small pages; the same seed gives the same recording. Tasks make
// calls, sleep, wake others, fork, exec, rename and exit on several CPUs; there are interrupts,
// losses, and functions of the file's own catalogue in both.
#pragma once

#include <random>
#include <set>

#include "tests/unit/analyzed.h"

namespace fkt::test {

// Drops some events before they are written, several in a row on one CPU, like a ring without a
// free page.
class Losses {
 public:
  Losses(TraceBuilder& builder, unsigned seed, unsigned rare = 150)
      : builder_(builder), random_(seed), rare_(rare) {}

  // Returns true if this event is lost. Otherwise writes the loss of preceding events first, if
  // any.
  bool hits(unsigned cpu, std::uint64_t clock, std::uint32_t id, std::uint32_t arg) {
    Loss& loss = losses_[cpu];
    if (loss.to_come == 0 && below(rare_) == 0) loss.to_come = 1 + below(25);
    if (loss.to_come > 0) {
      loss.to_come--;
      if (loss.count++ == 0) {
        loss.from = clock;
        builder_.close_page(cpu);
      }
      if (is_switch(static_cast<std::uint16_t>(id))) builder_.pid(cpu, arg & FKT_PID_MASK);
      return true;
    }
    tell(cpu, clock, loss);
    return false;
  }
  // Called at the end of the recording: writes losses not written yet.
  void end(std::uint64_t clock) {
    for (auto& [cpu, loss] : losses_) tell(cpu, clock, loss);
  }

 private:
  struct Loss {
    unsigned to_come = 0;
    std::uint64_t count = 0, from = 0;
  };
  unsigned below(unsigned limit) {
    return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
  }
  void tell(unsigned cpu, std::uint64_t clock, Loss& loss) {
    if (loss.count > 0) builder_.lost(cpu, loss.from, clock, loss.count);
    loss.count = 0;
  }

  TraceBuilder& builder_;
  std::mt19937 random_;
  unsigned rare_;
  std::map<unsigned, Loss> losses_;
};

class RandomRecording {
 public:
  // plain: without wake-ups and functions. gaps: as the lossless one of the same seed, but with
  // events lost at random on each CPU. few: as the plain one of the same seed, with such losses in
  // addition.
  enum class Kind { all, lossless, plain, gaps, few };

  RandomRecording(unsigned seed, unsigned cpus, unsigned events, Kind kind = Kind::all)
      : random_(seed), losses_(builder_, seed), cpus_(cpus), kind_(kind) {
    for (const std::uint32_t tid : {42u, 43u, 44u, 45u, 46u, 47u}) sleeping_.insert(tid);
    builder_.section(FKT_SEC_TASKS,
                     "1\t1\t0\tinit\n2\t2\t0\tkthreadd\n10\t10\t1\tfkt_record\n42\t42\t10\twork\n"
                     "43\t42\t10\twork\n44\t44\t1\ta\\x09b\n45\t45\t2\tkworker\n46\t46\t1\tsh\n");
    builder_.section(FKT_SEC_CATALOGUE, catalogue());
    running_.assign(cpus, 0);
    irq_.assign(cpus, 0);
    for (unsigned i = 0; i < events; i++) step();
  }
  // The built-in catalogue and two functions.
  static std::string catalogue() {
    return Catalogue::builtin().to_lines() +
           "event\t100\tvfs_read\t0\tbegin:vfs_read\t0\t\n"
           "event\t101\tvfs_read\t0\tend:vfs_read\t0\t\n"
           "event\t102\tkfree\t0\tbegin:kfree\t0\t\n"
           "event\t103\tkfree\t0\tend:kfree\t0\t\n";
  }
  TraceBuilder& builder() { return builder_; }
  Bytes finish(TraceBuilder::Tail tail = TraceBuilder::Tail::finished) {
    if (drops()) losses_.end(clock_ + 1);
    return builder_.finish(tail);
  }
  std::uint64_t end() const { return clock_; }

 private:
  unsigned below(unsigned limit) {
    return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
  }

  bool plain() const { return kind_ == Kind::plain || kind_ == Kind::few; }
  bool drops() const { return kind_ == Kind::gaps || kind_ == Kind::few; }
  bool lossless() const { return kind_ == Kind::lossless || kind_ == Kind::gaps; }
  void put(unsigned cpu, std::uint64_t clock, std::uint32_t id, std::uint32_t arg = 0,
           std::initializer_list<std::uint64_t> words = {}) {
    if (drops() && losses_.hits(cpu, clock, id, arg)) return;
    builder_.event(cpu, clock, id, arg, words);
  }

  // Writes one event on a random CPU, with realistic probabilities.
  void step() {
    clock_ += 1 + below(300);
    const unsigned cpu = below(cpus_);
    const std::uint32_t task = running_[cpu];
    if (!plain() && below(8) == 0) {
      put(cpu, clock_, 0x100 + below(4));
      return;
    }
    if (irq_[cpu] != 0) return end_irq(cpu);
    const unsigned what = below(100);
    if (what < 8) {
      begin_irq(cpu, what);
    } else if (!lossless() && what < 9 && below(10) == 0) {
      builder_.lost(cpu, clock_, clock_ + 50, 1 + below(9));
      clock_ += 50;
      in_call_.erase(task);
    } else if (what < 25) {
      change(cpu);
    } else if (task == 0) {
      put(cpu, clock_, FKT_E_NMI);
    } else if (in_call_.contains(task)) {
      leave(cpu, task, what);
    } else if (what < 90) {
      put(cpu, clock_, FKT_E_SYS_ENTRY, below(3) == 0 ? 39 : below(2));
      in_call_.insert(task);
    } else {
      put(cpu, clock_, FKT_E_FAULT_USER, 4, {0x1000, 0x2000});
    }
  }

  void begin_irq(unsigned cpu, unsigned what) {
    if (what < 3) {
      put(cpu, clock_, FKT_E_VECTOR_ENTRY, 0xec);
      irq_[cpu] = 0xec;
    } else if (what < 6) {
      put(cpu, clock_, FKT_E_IRQ_ENTRY_NAMED, 2, {14, chars(what < 5 ? "ide0" : "usb")});
      irq_[cpu] = 14;
    } else {
      put(cpu, clock_, FKT_E_SOFTIRQ_ENTRY, 9);
      irq_[cpu] = 9;
    }
  }

  void end_irq(unsigned cpu) {
    if (irq_[cpu] == 0xec) put(cpu, clock_, FKT_E_VECTOR_EXIT, 0xec);
    if (irq_[cpu] == 14) put(cpu, clock_, FKT_E_IRQ_EXIT, 14 | 1 << 22);
    if (irq_[cpu] == 9) put(cpu, clock_, FKT_E_SOFTIRQ_EXIT, 9);
    irq_[cpu] = 0;
  }

  void change(unsigned cpu) {
    const std::uint32_t task = running_[cpu];
    std::uint32_t next = 0;
    if (!sleeping_.empty() && below(4) != 0) {
      next = *std::next(sleeping_.begin(), below(static_cast<unsigned>(sleeping_.size())));
    }
    if (next == task) return;
    if (asleep_.erase(next) != 0) {  // it is woken now and will run later
      put(cpu, clock_, FKT_E_WAKING, next);
      return;
    }
    const bool sleeps = below(2) == 0;
    put(cpu, clock_, sleeps ? FKT_E_SWITCH_S : FKT_E_SWITCH_PREEMPT, next);
    if (sleeps && task != 0 && !plain()) asleep_.insert(task);
    sleeping_.erase(next);
    if (task != 0) sleeping_.insert(task);
    running_[cpu] = next;
  }

  void leave(unsigned cpu, std::uint32_t task, unsigned what) {
    if (what < 30) {
      std::uint32_t child = next_tid_++;
      while (lives(child)) child = next_tid_++;
      put(cpu, clock_, FKT_E_FORK, child, {pair(below(2) == 0 ? child : task, task)});
      sleeping_.insert(child);
      in_call_.insert(child);
    } else if (what < 33) {
      put(cpu, clock_, FKT_E_RENAME, task, {chars("new\\me"), 0});
    } else if (what < 36) {
      put(cpu, clock_, FKT_E_EXEC, 2, {pair(task, task), chars("/bin/x")});
    } else if (what < 40) {
      put(cpu, clock_, FKT_E_EXIT, 0, {pair(task, task)});
      clock_ += 5;
      put(cpu, clock_, FKT_E_SWITCH_Z, 0);
      running_[cpu] = 0;
      in_call_.erase(task);
      clock_ += 5;
      put(cpu, clock_, FKT_E_PID_FREE, task);
      if (below(2) == 0) next_tid_ = task;  // the number is reused
    } else {
      put(cpu, clock_, FKT_E_SYS_EXIT, below(20));
      in_call_.erase(task);
    }
  }

  bool lives(std::uint32_t tid) const {
    return sleeping_.contains(tid) || std::ranges::find(running_, tid) != running_.end();
  }

  std::mt19937 random_;
  TraceBuilder builder_;
  Losses losses_;
  unsigned cpus_;
  Kind kind_;
  std::uint64_t clock_ = TraceBuilder::kStart + 1000;
  std::uint32_t next_tid_ = 100;
  std::vector<std::uint32_t> running_, irq_;
  std::set<std::uint32_t> sleeping_;  // not running
  std::set<std::uint32_t> asleep_;    // not running and not woken
  std::set<std::uint32_t> in_call_;
};

}  // namespace fkt::test
