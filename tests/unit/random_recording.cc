// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/random_recording.h"

#include <algorithm>

namespace fkt::test {

Losses::Losses(RecordingBuilder& builder, unsigned seed, unsigned rare)
    : builder_(builder), random_(seed), rare_(rare) {}

bool Losses::hits(unsigned cpu, std::uint64_t clock, std::uint32_t id, std::uint32_t arg) {
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

void Losses::tell(unsigned cpu, std::uint64_t clock, Loss& loss) {
  if (loss.count > 0) builder_.lost(cpu, loss.from, clock, loss.count);
  loss.count = 0;
}

RandomRecording::RandomRecording(unsigned seed, unsigned cpus, unsigned events, Kind kind)
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

std::string RandomRecording::catalogue() {
  return Catalogue::builtin().to_lines() +
         "event\t100\tvfs_read\t0\tbegin:vfs_read\t0\t\n"
         "event\t101\tvfs_read\t0\tend:vfs_read\t0\t\n"
         "event\t102\tkfree\t0\tbegin:kfree\t0\t\n"
         "event\t103\tkfree\t0\tend:kfree\t0\t\n";
}

Bytes RandomRecording::finish(RecordingBuilder::Tail tail) {
  if (drops()) losses_.end(clock_ + 1);
  return builder_.finish(tail);
}

void RandomRecording::put(unsigned cpu, std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
                          std::initializer_list<std::uint64_t> words) {
  if (drops() && losses_.hits(cpu, clock, id, arg)) return;
  builder_.event(cpu, clock, id, arg, words);
}

void RandomRecording::step() {
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

void RandomRecording::begin_irq(unsigned cpu, unsigned what) {
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

void RandomRecording::end_irq(unsigned cpu) {
  if (irq_[cpu] == 0xec) put(cpu, clock_, FKT_E_VECTOR_EXIT, 0xec);
  if (irq_[cpu] == 14) put(cpu, clock_, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  if (irq_[cpu] == 9) put(cpu, clock_, FKT_E_SOFTIRQ_EXIT, 9);
  irq_[cpu] = 0;
}

void RandomRecording::change(unsigned cpu) {
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

void RandomRecording::leave(unsigned cpu, std::uint32_t task, unsigned what) {
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

}  // namespace fkt::test
