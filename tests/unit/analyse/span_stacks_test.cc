// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/span_stacks.h"

#include <catch2/catch.hpp>

#include <optional>
#include <string>

#include "lib/analyse/meanings.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/how_many.h"

using namespace fkt;
using namespace fkt::test;

namespace {

struct Kept {
  struct Span {
    TypeIndex type = kNoType;
    SpanKind kind{};
    std::uint64_t match = 0, begin = 0;
    void reset() {}
    void reopened(bool) {}
  };
  struct Task {};
  struct Cpu {};
};
using Stacks = SpanStacks<Kept>;

// A state that can be copied, and what happened in it since it was made or copied.
class Followed {
 public:
  Followed(const RecordingInfo& info, const Meanings& meanings, SpanTypes& types)
      : meanings_(meanings), types_(types), tasks_(info) {}

  void apply(const Event& event) {
    if (event.id == kGapBegins) return stacks_.begin_gap(event.cpu, {}, tasks_, *this);
    if (event.is_gap()) return;
    const TaskIndex running = tasks_.running(event);
    tasks_.apply(event, running);
    const Meaning& meaning = meanings_[event.id];
    const Stacks::Position place = stacks_.at(event.cpu, running);
    if (meaning.role == Role::begin) {
      say("begin", stacks_.begin(meaning, event, place, types_, *this), place.depth());
    } else if (meaning.role == Role::end) {
      const auto [span, stack, ticks] = Stacks::end(meaning, event, place, *this);
      if (span != nullptr) say("end", *span, stack.size());
    } else {
      stacks_.point(event, running, tasks_, false, *this);
    }
  }
  void finish() { stacks_.end_all(*this); }

  std::size_t open() const {
    std::size_t open = 0;
    for (const Stacks::Task& task : stacks_.tasks()) open += task.stack.size();
    for (const Stacks::Cpu& cpu : stacks_.cpus()) open += cpu.stack.size();
    return open;
  }
  // The number of spans for which there is memory.
  std::size_t held() const {
    std::size_t held = 0;
    for (const Stacks::Task& task : stacks_.tasks()) held += task.stack.spans.size();
    for (const Stacks::Cpu& cpu : stacks_.cpus()) held += cpu.stack.spans.size();
    return held;
  }
  const std::string& said() const { return said_; }
  void forget_said() { said_.clear(); }

  // Called by SpanStacks.
  void dropped(const Kept::Span& span, const Stacks::Stack& stack, Outcome outcome) {
    say(outcome == Outcome::in_gap ? "gap" : "drop", span, stack.size());
  }
  void replaced(const Kept::Span& span, const Stacks::Stack& stack) {
    say("exec", span, stack.size());
  }
  void ends_interrupts(std::uint32_t) {}
  void loses(TaskIndex, Loss) {}
  void moves(TaskIndex, TaskIndex) {}

 private:
  void say(const char* what, const Kept::Span& span, std::size_t depth) {
    said_ += std::string(what) + " " + types_[span.type].name + " " + std::to_string(span.begin) +
             " " + std::to_string(depth) + "\n";
  }

  const Meanings& meanings_;
  SpanTypes& types_;
  Tasks tasks_;
  Stacks stacks_;
  std::string said_;
};

}  // namespace

TEST_CASE("a copy of the open spans goes on as the original does, and by itself") {
  std::size_t open = 0, popped = 0;
  for (unsigned seed = 0; seed < recordings(20); seed++) {
    INFO("seed " << seed);
    const Result<Recording> trace =
        Recording::from_bytes(BusyRecording(seed, 1 + seed % 4, 200).finish());
    REQUIRE(trace);
    SpanTypes types(trace->info());
    const Meanings meanings(trace->info().catalogue, types.kinds());
    std::size_t events = 0;
    for ([[maybe_unused]] const Event& event : trace->events()) events++;

    Followed original(trace->info(), meanings, types);
    std::optional<Followed> copy;
    std::size_t at = 0;
    for (const Event& event : trace->events()) {
      if (at++ == events / 2) {
        original.forget_said();
        copy.emplace(original);
        CHECK(copy->open() == original.open());
        CHECK(copy->held() == copy->open());
        open += copy->open();
        popped += original.held() - original.open();
      }
      original.apply(event);
    }
    original.finish();
    at = 0;
    for (const Event& event : trace->events()) {
      if (at++ >= events / 2) copy->apply(event);
    }
    copy->finish();
    CHECK(copy->open() == 0);
    CHECK_FALSE(original.said().empty());
    CHECK(copy->said() == original.said());
  }
  CHECK(open > 0);  // else nothing was copied
  CHECK(popped > 0);
}
