// SPDX-License-Identifier: GPL-2.0-only
// Events of whole calls: written when a call has ended, with the fields `begin` and `duration`
// (FieldUse). Readers replace each of them by two events, the begin and the end of a span
// (lib/read/page_splitter.h), so that programs that read events need no rule for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/format/catalogue.h"

namespace fkt {

// A call event and the events made of it. If it has no other fields and its key fits the argument,
// the argument is the key and no words follow; else argument and words are copied (`copies`). A
// late begin or end has one word in front: the begin's time, or the duration (ticks).
struct CallEvent {
  std::uint16_t id = 0;  // in the file; the end that is made of it has it too
  std::uint16_t begin = 0;
  std::uint16_t late_begin = 0;  // the call had begun before the place where this begin is
  std::uint16_t late_end = 0;    // the call had ended before the place where this end is
  bool copies = false;           // argument and words are copied
  bool counted = false;          // the argument says how many words follow
  unsigned words = 0;            // that the three fields need
  // A field as EventType::value() reads it: the word, shifted left and then right.
  struct Bits {
    unsigned word = 0, left = 0, right = 0;
    bool is_signed = false;

    [[gnu::always_inline]] std::uint64_t of(const Event& event) const {
      const std::uint64_t top = (word > 0 ? event.words[word - 1] : event.arg) << left;
      return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(top) >> right)
                       : top >> right;
    }
  };
  Bits key, started, duration;

  // `event` must have that many words. start(): full stamp.
  std::uint64_t start(const Event& event) const {
    const std::uint64_t low = started.of(event);
    return started.right == 0
               ? low
               : event.clock - ((event.clock - low) << started.right >> started.right);
  }
  std::uint64_t ticks(const Event& event) const { return duration.of(event); }
  std::uint64_t number(const Event& event) const { return key.of(event); }
};

class CallEvents {
 public:
  CallEvents() = default;  // there are none
  // Finds the events of the recording's calls, and changes its catalogue into that of the events
  // that readers see. There are none if the catalogue names no key of such an event: the recorder
  // names the functions that it records.
  explicit CallEvents(Catalogue& catalogue);

  bool empty() const { return events_.empty(); }
  // Returns the event with this id; nullptr: it is no event of a whole call.
  const CallEvent* find(std::uint16_t id) const {
    return id < by_id_.size() && by_id_[id] >= 0 ? &events_[by_id_[id]] : nullptr;
  }
  std::size_t size() const { return events_.size(); }
  const CallEvent& operator[](std::size_t number) const { return events_[number]; }
  std::size_t number(const CallEvent& event) const {
    return static_cast<std::size_t>(&event - events_.data());
  }

 private:
  std::vector<CallEvent> events_;
  std::vector<std::int8_t> by_id_;  // position in events_; -1: none
};

}  // namespace fkt
