// SPDX-License-Identifier: GPL-2.0-only
// AsyncSpans: spans that are on no stack, such as requests to a disk. One event begins the span and
// another one ends it, on any CPU and by any task; a value that both have says that they belong
// together (lines "async" of the file's catalogue, man fkt-file.5).
//
// What may hide an end (lost events, a change of the layers or the instruments) ends all open spans
// unseen: a number that is used again must not make one span of two.
//
// It is a value: a copy continues from the state that was copied.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/analyse/span_tracker.h"
#include "lib/analyse/span_types.h"
#include "lib/analyse/tasks.h"
#include "lib/format/catalogue.h"

namespace fkt {

struct AsyncSpan {
  // Open spans of one type are drawn in rows, numbered from 0; a row holds one span at a time.
  static constexpr std::uint8_t kRows = 64;
  static constexpr std::uint8_t kNoRow = kRows;  // all rows were taken: it is not drawn

  TypeIndex type = kNoType;  // its kind and what it belongs to: "request vda"
  TaskIndex task = kNoTask;  // the task that ran when it began
  std::uint32_t cpu = 0;     // where it began
  std::uint8_t row = 0;
  std::uint64_t begin = 0;  // ticks
};

class AsyncSpans {
 public:
  // A span that has ended. seen: by its end; else by what may hide it.
  struct Ended {
    AsyncSpan span;
    bool seen = false;
  };
  using Key = std::pair<std::string_view, std::uint64_t>;  // kind, value of the matching field

  // The catalogue must outlive this object and its copies.
  explicit AsyncSpans(const Catalogue& catalogue);

  // Returns whether the recording may have such spans.
  bool any() const { return any_; }

  // Applies an event that is no gap. running: the task on its CPU. Appends to `ended` the spans
  // that end with it, and sets SpanStep::async if one of them was seen whole.
  void apply(const Event& event, TaskIndex running, SpanTypes& types, std::vector<Ended>& ended,
             SpanStep& step);
  // Ends all open spans unseen, and appends them.
  void drop(std::vector<Ended>& ended);
  // The open spans.
  const std::map<Key, AsyncSpan>& open() const { return open_; }

 private:
  void begin(const Event& event, const KeyedAsync& async, const Key& key, const EventType& type,
             TaskIndex running, SpanTypes& types);
  AsyncSpan take(std::map<Key, AsyncSpan>::iterator at);

  const Catalogue* catalogue_;
  bool any_ = false;
  std::map<Key, AsyncSpan> open_;
  std::map<TypeIndex, std::uint64_t> rows_;  // those that are taken, a bit each
};

}  // namespace fkt
