// SPDX-License-Identifier: GPL-2.0-only
// Asking the events of one pass what a bound expression (lib/where.h) says of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/spans.h"
#include "lib/where.h"

namespace fkt {

// Which spans were selected, by the offsets of their entries in the file: a bit a word, kept for
// those parts of the file that have some, so at the very most 1/64 of its size.
class Marks {
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

// An expression, and what a first pass found out for it (find_spans() in lib/find.h).
struct Choice {
  Where where;
  Marks spans{};  // where.whole_spans(): the entries of those selected
};

// Tests the events of one pass.
class Picker {
 public:
  // All must outlive the picker. `learn`: this is the first pass, which marks the spans there.
  Picker(const Choice& choice, Marks* learn, const TraceInfo& info, const Tasks& tasks,
         Spans& spans, const SpanTypes& types);

  // Is the event selected? To be asked before the spans take notice of it. In the first pass what
  // it says of a span that is still open is not final.
  bool picks(const Event& event, TaskIndex task);

 private:
  using Node = Where::Node;
  struct Subject {
    const Event& event;        // a span's entry
    const Event* exit;         // its exit; nullptr: none, or not yet
    TypeIndex type = kNoType;  // of the span that `event` begins
    TaskIndex task = kNoTask;  // that ran
  };
  bool test(const Subject& subject) { return test(where_.nodes_.back(), subject); }
  bool test(const Node& node, const Subject& subject);
  bool name(const Node& node, const Subject& subject);
  bool argument(const Node& node, const Event& event, bool& has) const;
  std::string_view value_name(const Field& field, std::uint64_t value) const;

  const Where& where_;
  const Marks& marks_;
  Marks* learn_;
  const TraceInfo& info_;
  const Tasks& tasks_;
  Spans& spans_;
  const SpanTypes& types_;
  std::vector<std::vector<std::int8_t>> by_type_;  // per name: by TypeIndex; -1: not looked at yet
};

}  // namespace fkt
