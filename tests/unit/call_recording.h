// SPDX-License-Identifier: GPL-2.0-only
// Random recordings with events of whole calls of functions, and the expected properties of these
// calls. The same seed gives the same recording.
#pragma once

#include <random>
#include <set>
#include <tuple>

#include <fkt/call_event.h>

#include "tests/unit/random_recording.h"

namespace fkt::test {

// Functions call each other in system calls, kernel threads and interrupts; their tasks are
// preempted, sleep and go on on other CPUs. Interrupts hit a CPU between a call's end and the event
// that tells of it. Some calls began before the recording.
class CallRecording {
 public:
  enum class Kind {
    whole,     // nothing is missing
    switches,  // switches are not recorded
    gaps,      // some events are lost on each CPU
    prompt,    // nothing is missing, and nothing comes between a call's end and its event
    held,      // nothing is missing; some calls are written when a call that they were in ends
  };
  // Name, thread, begin and end of a call.
  using Call = std::tuple<std::string, std::uint32_t, std::uint64_t, std::uint64_t>;
  struct OfFunction {
    std::uint64_t count = 0, ticks = 0, own = 0;
    bool operator==(const OfFunction&) const = default;
  };

  // before: some calls began before the recording.
  CallRecording(unsigned seed, unsigned cpus, unsigned steps, Kind kind = Kind::whole,
                bool before = true);

  Bytes finish(RecordingBuilder::Tail tail = RecordingBuilder::Tail::finished);
  std::uint64_t end() const { return now_; }
  // Of the calls whose events were written.
  const std::multiset<Call>& calls() const { return calls_; }
  const std::map<std::string, OfFunction>& functions() const { return functions_; }
  // As it stands in the file.
  static Catalogue catalogue();
  static std::string name(unsigned function) { return "f_" + std::to_string(function); }

 private:
  static constexpr unsigned kFunctions = 12;
  struct Open {
    std::uint32_t function = 0;
    std::uint64_t begin = 0, own = 0, end = 0;
  };
  struct Task {
    std::uint32_t tid = 0;
    bool kernel = false, in_call = false, runs = false;
    std::vector<Open> stack;
    std::vector<Open> held;  // calls that have ended in those of the stack
  };
  struct Cpu {
    Task* task = nullptr;  // nullptr: idle
    bool in_irq = false;
    std::vector<Open> in_interrupt;  // called in it
  };

  unsigned below(unsigned limit) {
    return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
  }
  void put(const Cpu& cpu, std::uint32_t id, std::uint32_t arg = 0,
           std::initializer_list<std::uint64_t> words = {});
  void pass(std::uint64_t ticks);

  void step(Cpu& cpu);
  void irq(Cpu& cpu);
  void leave(Cpu& cpu, std::vector<Open>& open);
  void write(Cpu& cpu, const Open& call);
  void change(Cpu& cpu);

  std::mt19937 random_;
  RecordingBuilder builder_;
  Losses losses_;
  Kind kind_;
  std::uint64_t now_ = RecordingBuilder::kStart + 1000;
  std::vector<Cpu> cpus_;
  std::vector<Task> tasks_;
  std::multiset<Call> calls_;
  std::map<std::string, OfFunction> functions_;
};

}  // namespace fkt::test
