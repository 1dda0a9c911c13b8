// SPDX-License-Identifier: GPL-2.0-only
// Tests which events of one pass a bound expression (lib/query/bound_expression.h) selects.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/analyse/span_tracker.h"
#include "lib/query/bound_expression.h"

namespace fkt {

// Set of selected spans, by the file offsets of their entry events: one bit per 64-bit word, only
// for parts of the file that contain a selected span. At most 1/64 of the file's size.
class SpanMarks {
 public:
  void set(std::uint64_t offset, bool on);
  bool test(std::uint64_t offset) const {
    const std::uint64_t word = offset / sizeof(std::uint64_t);
    const std::uint64_t chunk = word / kChunkWords, bit = word % kChunkWords;
    return chunk < chunks_.size() && !chunks_[chunk].empty() &&
           (chunks_[chunk][bit / 64] >> bit % 64 & 1) != 0;
  }

 private:
  static constexpr std::uint64_t kChunkWords = 1 << 17;  // 1 MiB of the file, 16 KiB of bits
  std::vector<std::vector<std::uint64_t>> chunks_;
};

// An expression and the spans that a first pass selected with it (make_filter() in
// lib/analyse/search_passes.h).
struct Filter {
  BoundExpression expression;
  SpanMarks spans{};  // with expression.whole_spans(): the entries of the selected spans
};

// Tests the events of one pass.
class FilterPass {
 public:
  // All arguments must outlive the pass. `learn`: not nullptr in the first pass, which marks the
  // selected spans there.
  FilterPass(const Filter& filter, SpanMarks* learn, const RecordingInfo& info, const Tasks& tasks,
             SpanTracker& spans, const SpanTypes& types);

  // Returns whether the event is selected. Must be called before the spans apply the event. In the
  // first pass the answer for a span that is still open is not final.
  bool selects(const Event& event, TaskIndex task);

 private:
  using Node = BoundExpression::Node;
  struct Subject {
    const Event& event;        // a span's entry, or an event of no span
    const Event* exit;         // the span's exit; nullptr: none, or not reached yet
    TypeIndex type = kNoType;  // type of the span that `event` begins
    TaskIndex task = kNoTask;  // the task that ran
    std::uint64_t ticks = 0;   // with `exit`: the span's duration
  };
  bool test(const Subject& subject) { return test(expression_.nodes().back(), subject); }
  bool test(const Node& node, const Subject& subject);
  static bool own_name(const Node& node, const Event& event);
  bool name(const Node& node, const Subject& subject);
  bool argument(const Node& node, const Event& event, bool& has) const;
  bool has_function(const Field& field, const Event& event, const Node& node) const;
  std::string_view value_name(const Field& field, std::uint64_t value) const;

  const BoundExpression& expression_;
  const SpanMarks& marks_;
  SpanMarks* learn_;
  const RecordingInfo& info_;
  const Tasks& tasks_;
  SpanTracker& spans_;
  const SpanTypes& types_;
  // Per name test, by TypeIndex: 1 selected, 0 not, -1 not tested yet.
  std::vector<std::vector<std::int8_t>> by_type_;
};

}  // namespace fkt
