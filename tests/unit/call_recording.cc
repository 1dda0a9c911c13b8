// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/call_recording.h"

#include <algorithm>

namespace fkt::test {

CallRecording::CallRecording(unsigned seed, unsigned cpus, unsigned steps, Kind kind, bool before)
    : random_(seed), losses_(builder_, seed, 60), kind_(kind), cpus_(cpus) {
  builder_.section(FKT_SEC_CATALOGUE, catalogue().to_lines());
  builder_.section(FKT_SEC_TASKS,
                   "1\t1\t0\tinit\n2\t2\t0\tkthreadd\n10\t10\t1\tfkt_record\n42\t42\t10\twork\n"
                   "43\t42\t10\twork\n44\t44\t1\tother\n45\t45\t2\tkworker\n46\t46\t1\tsh\n");
  for (const std::uint32_t tid : {42u, 43u, 44u, 45u, 46u}) {
    Task& task = tasks_.emplace_back();
    task.tid = tid;
    task.kernel = tid == 45;
    for (unsigned i = before ? below(4) : 0; i > 0; i--) {
      task.stack.push_back({below(kFunctions), RecordingBuilder::kStart - 100 * i, 0});
    }
    task.in_call = !task.stack.empty();
  }
  if (kind == Kind::switches) {
    builder_.section(FKT_SEC_COMMAND,
                     R"({"recorder_pid":10,"workload_pid":42,"command":["work"],"mask":1,)"
                     R"("args":false,"filter":"none","filter_pid":0})");
  }
  for (unsigned i = 0; i < steps; i++) step(cpus_[below(static_cast<unsigned>(cpus_.size()))]);
}

Bytes CallRecording::finish(RecordingBuilder::Tail tail) {
  if (kind_ == Kind::gaps) losses_.end(now_ + 1);
  return builder_.finish(tail);
}

Catalogue CallRecording::catalogue() {
  std::string lines = Catalogue::builtin().to_lines();
  for (unsigned i = 0; i < kFunctions; i++) {
    lines += "name\tfunction\t" + std::to_string(i) + "\t" + name(i) + "\n";
  }
  return *Catalogue::parse(lines);
}

void CallRecording::put(const Cpu& cpu, std::uint32_t id, std::uint32_t arg,
                        std::initializer_list<std::uint64_t> words) {
  const auto number = static_cast<unsigned>(&cpu - cpus_.data());
  if (kind_ == Kind::gaps && losses_.hits(number, now_, id, arg)) return;
  builder_.event(number, now_, id, arg, words);
}

void CallRecording::pass(std::uint64_t ticks) {
  now_ += ticks;
  for (Cpu& cpu : cpus_) {
    std::vector<Open>* const open = cpu.in_irq            ? &cpu.in_interrupt
                                    : cpu.task != nullptr ? &cpu.task->stack
                                                          : nullptr;
    if (open != nullptr && !open->empty()) open->back().own += ticks;
  }
}

void CallRecording::step(Cpu& cpu) {
  pass(below(400) == 0 ? 1 << 29 : 1 + below(100));
  if (!cpu.in_irq && below(12) == 0) return irq(cpu);
  if (!cpu.in_irq && (cpu.task == nullptr || below(10) == 0)) return change(cpu);
  std::vector<Open>& open = cpu.in_irq ? cpu.in_interrupt : cpu.task->stack;
  const bool may_call = cpu.in_irq || cpu.task->kernel || cpu.task->in_call;
  if (may_call && open.size() < 7 && below(2) == 0) {
    open.push_back({below(kFunctions), now_, 0});
  } else if (!open.empty()) {
    leave(cpu, open);
  } else if (cpu.in_irq) {
    put(cpu, FKT_E_VECTOR_EXIT, 0xec);
    cpu.in_irq = false;
  } else if (!cpu.task->kernel) {
    put(cpu, cpu.task->in_call ? FKT_E_SYS_EXIT : FKT_E_SYS_ENTRY, below(2));
    cpu.task->in_call = !cpu.task->in_call;
  }
}

void CallRecording::irq(Cpu& cpu) {
  put(cpu, FKT_E_VECTOR_ENTRY, 0xec);
  cpu.in_irq = true;
}

void CallRecording::leave(Cpu& cpu, std::vector<Open>& open) {
  Open call = open.back();
  open.pop_back();
  call.end = now_;
  pass(below(20));
  if (kind_ != Kind::prompt && !cpu.in_irq && below(10) == 0) {
    irq(cpu);
    pass(1 + below(20));
    put(cpu, FKT_E_VECTOR_EXIT, 0xec);
    cpu.in_irq = false;
    pass(1 + below(9));
  }
  if (kind_ == Kind::held && !cpu.in_irq) {
    if (!open.empty() && below(3) != 0) {
      cpu.task->held.push_back(call);
      return;
    }
    std::vector<Open>& held = cpu.task->held;
    const auto in_call = [&](const Open& one) { return one.begin >= call.begin; };
    const auto first = std::ranges::find_if(held, in_call);
    for (auto one = first; one != held.end(); ++one) {
      write(cpu, *one);
      pass(below(3));
    }
    held.erase(first, held.end());
  }
  write(cpu, call);
}

void CallRecording::write(Cpu& cpu, const Open& call) {
  const std::uint64_t ticks = call.end - call.begin;
  const auto number = static_cast<unsigned>(&cpu - cpus_.data());
  const bool may_be_brief = now_ - call.begin < 1ULL << (FKT_CALL_BEGIN_BITS - 1);
  const bool brief = may_be_brief && fkt_call_is_short(ticks) && below(8) != 0;
  const std::uint32_t id = brief ? FKT_E_CALL : FKT_E_CALL_LONG;
  if (kind_ == Kind::gaps && losses_.hits(number, now_, id, 0)) return;
  if (brief) {
    builder_.event(number, now_, id, call.function, {fkt_call_word(call.begin, ticks)});
  } else {
    builder_.event(number, now_, id, call.function, {ticks, call.begin});
  }
  const std::uint32_t tid = cpu.task != nullptr ? cpu.task->tid : 0;
  calls_.insert({name(call.function), tid, call.begin, call.end});
  OfFunction& of = functions_[name(call.function)];
  of.count++;
  of.ticks += ticks;
  of.own += call.own;
}

void CallRecording::change(Cpu& cpu) {
  std::vector<Task*> others;
  for (Task& task : tasks_) {
    if (!task.runs) others.push_back(&task);
  }
  Task* const next = below(4) == 0 || others.empty()
                         ? nullptr
                         : others[below(static_cast<unsigned>(others.size()))];
  const std::uint32_t tid = next != nullptr ? next->tid : 0;
  if (kind_ == Kind::switches) {
    builder_.pid(static_cast<unsigned>(&cpu - cpus_.data()), tid);
  } else {
    put(cpu, below(2) == 0 ? FKT_E_SWITCH_S : FKT_E_SWITCH_PREEMPT, tid);
  }
  if (cpu.task != nullptr) cpu.task->runs = false;
  if (next != nullptr) next->runs = true;
  cpu.task = next;
}

}  // namespace fkt::test
