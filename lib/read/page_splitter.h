// SPDX-License-Identifier: GPL-2.0-only
// Splits pages: each event of a whole call (lib/format/call_events.h) becomes a begin and an end,
// each at its own time among the other events of the CPU. Readers of the split page see ordinary
// events in time order.
//
// Where the begin goes: between two events of a CPU, of which the latter is by the thread that
// called; so it ran there at that time. If that place is not in the page, the begin belongs in
// another page, which lib/read/split_pages.h looks for. If no page has such a place, because the
// call began before the recording or in a gap, or because switches are not recorded, the begin is
// late: it is placed where the thread came to run on the CPU before the call ended, and has the
// time of the real begin.
//
// The end goes where the call returned, which is a little before its event was written; long before
// it if the call was recorded because of a call that it was in. If that place is not in the page,
// or another thread ran there, lib/read/split_pages.h looks for it likewise. If it finds none, the
// end is late: it is placed at the event, and has the call's duration.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/base/raw_vector.h"
#include "lib/format/call_events.h"
#include "lib/read/page_decoder.h"
#include "lib/read/split_walk.h"

namespace fkt {

// A begin or an end that is made of the event of a whole call, without its time.
struct MadeEvent {
  std::uint16_t id = 0;
  std::uint32_t arg = 0;
  std::vector<std::uint64_t> words;
};
// Return the begin and the end that readers see in place of `event`, which is of this type.
MadeEvent made_begin(const CallEvent& type, const Event& event);
MadeEvent made_end(const CallEvent& type, const Event& event);

// A call whose begin, or whose end, belongs into another page than its event's.
struct OutsideCall {
  std::uint32_t call = 0;  // number of the call in its page
  std::uint32_t at = 0;    // position of its event word
  std::uint32_t pid = 0;
  std::uint64_t begin = 0, end = 0, number = 0;  // number: of the function
  // The entry is for the call's end. An entry for its begin, if any, directly precedes it.
  bool is_end = false;

  std::uint64_t clock() const { return is_end ? end : begin; }
};

// An end that is so near to its event (ticks) may be at the event, in another page.
inline constexpr std::uint64_t kAtOnceTicks = 128;

// Returns the page with the words of its split form, the last of which is at `clock` (ticks). They
// must live as long as the page. place: as in PageSplitter::split().
Page split_page(const Page& page, std::span<const std::uint64_t> words, std::uint64_t clock,
                std::uint64_t place);

class PageSplitter {
 public:
  // A begin or an end that goes into a page, and whose call has its event in another page.
  struct StrayEnd {
    std::uint64_t clock = 0;  // ticks
    const MadeEvent* event = nullptr;
    bool is_end = false;
  };

  explicit PageSplitter(const SplitRules& rules) : rules_(rules) {}

  // Reads the page, which must live as long as the splitter uses it. The functions below are about
  // the page that was read last.
  void read(const Page& page);
  const std::vector<OutsideCall>& outside() const { return outside_; }
  // Returns whether the call's begin, or its end, has a place in the page, because its thread ran
  // on the page's CPU then, which must not be before the page. next: the page that follows it on
  // its CPU without a gap; nullptr: there is none.
  bool has_place(const OutsideCall& call, const fkt_page_header* next) const;
  // Returns an upper bound of the split page's words. given: number of events that it gets from
  // other pages; others: the sum of their words.
  static std::uint64_t most_words(const Page& page, std::uint64_t given, std::uint64_t others);

  // Returns the page in its split form. given: what goes into it from other pages, each with a
  // place here. late: numbers of the calls of outside() whose begin is late, ascending; ended:
  // those whose end has a place elsewhere. place: the offset that the page's first word pretends to
  // have.
  Page split(std::span<const StrayEnd> given, std::span<const std::uint32_t> late,
             std::span<const std::uint32_t> ended, std::uint64_t place);

 private:
  enum class Kind : std::uint8_t { plain, pair, lost, call, moved };
  // Without initial values: items_ makes room for more of them than there are.
  struct Item {
    std::uint64_t clock;  // ticks; of a call, when it ended if that is known
    std::uint32_t at;     // position of the event word
    std::uint16_t call;   // of Kind::call, moved: number in calls_
    Kind kind;
  };
  // The thread that runs from an item on, up to the next run's item.
  struct Run {
    std::uint32_t item = 0, pid = 0;
  };
  struct Call {
    const CallEvent* type = nullptr;
    std::uint64_t begin = 0, end = 0;  // ticks
    std::uint64_t duration = 0;
    std::uint32_t at = 0;  // position of the event word
    std::uint32_t pid = 0;
    std::uint32_t item = 0;
    std::uint32_t end_item = 0;    // the end goes before this item
    std::uint32_t begin_item = 0;  // if `inside`
    bool at_once = false;          // the begin goes right before the end
    bool inside = false;           // the begin has a place before begin_item
    bool late_begin = false;       // `inside`, and in a pair
    bool late_end = false;
  };
  // A begin or end that goes before an item; a list for each item.
  struct Mark {
    enum class Kind : std::uint8_t { begin, late_begin, end };
    std::uint64_t clock = 0;
    std::uint32_t next = 0;  // position in marks_ plus 1; 0: the last one
    std::uint32_t call = 0;
    const MadeEvent* event = nullptr;  // nullptr: made of the call
    Kind kind = Kind::begin;
  };
  class Reader;
  class Writer;

  Event event_of(const Call& call) const { return rules_.event_at(*page_, call.at); }
  void add_call(const ToldCall& told, const Event& event, std::uint32_t at, std::uint32_t pid);
  void place_end(Call& call, Item& item);
  void place_begin(Call& call);
  void runs_from(std::uint32_t item, std::uint32_t pid);
  std::uint32_t item_after(std::uint64_t clock, std::uint32_t end) const;
  std::uint32_t item_after_end(std::uint64_t clock, std::uint32_t end) const;
  bool place_at(std::uint32_t item, std::uint64_t clock, std::uint32_t pid) const;
  const SplitRules::Step& step_of(const Item& item) const {
    return rules_.steps[fkt_word_id(page_->words[item.at])];
  }
  // Returns the position behind the item's words.
  std::uint32_t behind(const Item& item) const {
    return item.at + 1 + rules_.words_after(page_->words[item.at]);
  }
  // Returns the thread that runs at the item.
  std::uint32_t pid_of(std::uint32_t item) const;
  // Returns the thread that runs after the item, at which `pid` runs.
  std::uint32_t pid_after(std::uint32_t item, std::uint32_t pid) const {
    const bool is_switch = step_of(items_[item]).is_switch;
    return is_switch ? fkt_word_arg(page_->words[items_[item].at]) & FKT_PID_MASK : pid;
  }
  // Returns when the item ends (ticks), which for a pair is later than its clock.
  std::uint64_t end_of(const Item& item) const {
    if (item.kind != Kind::pair) return item.clock;
    return item.clock + fkt_pair_ticks(fkt_word_arg(page_->words[item.at]));
  }
  std::uint64_t end_before(std::uint32_t item) const {
    return item > 0 ? end_of(items_[item - 1]) : page_->header.first_clock;
  }
  int on_cpu(const Item& item) const { return rules_.on_cpu[fkt_word_id(page_->words[item.at])]; }
  std::uint32_t late_place(const Call& call) const;
  void mark(std::uint32_t item, const Mark& mark);
  void mark_calls(std::span<const std::uint32_t> late);
  void mark_around(std::uint32_t item, std::uint64_t clock);
  void write(Writer& writer);
  Error damage() const;

  const SplitRules& rules_;
  const Page* page_ = nullptr;
  RawVector<Item> items_;
  RawVector<Run> runs_;
  RawVector<Call> calls_;
  std::vector<OutsideCall> outside_;
  std::uint32_t last_pid_ = 0;  // runs at the end of the page
  bool damaged_ = false;
  std::uint32_t bad_ = 0;   // position of the word that cannot be read
  bool too_short_ = false;  // its event is too short for its fields
  std::vector<Mark> marks_;
  std::vector<std::uint32_t> first_mark_;  // by item, and behind the last one
  std::vector<std::uint32_t> marked_;      // the items that have marks
};

}  // namespace fkt
