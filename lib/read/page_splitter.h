// SPDX-License-Identifier: GPL-2.0-only
// Splitting a page: each event of a whole call (lib/format/call_events.h) becomes a begin and an
// end, each at its own time among the other events of the CPU. What reads the page afterwards sees
// ordinary events in time order.
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

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/base/raw_vector.h"
#include "lib/format/call_events.h"
#include "lib/read/page_decoder.h"

namespace fkt {

// An event that is made of the event of a call, without its time.
struct MadeEvent {
  std::uint16_t id = 0;
  std::uint32_t arg = 0;
  std::vector<std::uint64_t> words;
};
MadeEvent made_begin(const CallEvent& type, const Event& event);
MadeEvent made_end(const CallEvent& type, const Event& event);

class PageSplitter {
 public:
  // How the pages of a recording are split; shared by its splitters.
  struct Rules {
    explicit Rules(Catalogue& catalogue);  // changes the catalogue as CallEvents does

    WordTable table;  // of the events in the file
    CallEvents calls;
    // By id: 1: begins what nests on a CPU; -1: ends it.
    std::array<std::int8_t, 1 << FKT_ID_BITS> on_cpu{};
  };
  // A begin or an end that goes into a page, and whose call has its event in another page.
  struct Given {
    std::uint64_t clock = 0;  // ticks
    const MadeEvent* event = nullptr;
    bool is_end = false;
  };
  // A call whose begin, or whose end, belongs elsewhere.
  struct Outside {
    std::uint32_t call = 0;  // number of the call in its page
    std::uint32_t pid = 0;
    std::uint64_t begin = 0, end = 0, number = 0;  // number: of the function
    // It is about the call's end; if the begin belongs elsewhere too, that comes right before.
    bool is_end = false;

    std::uint64_t clock() const { return is_end ? end : begin; }
  };

  explicit PageSplitter(const Rules& rules) : rules_(rules) {}

  // Reads the page, which must live as long as the splitter uses it. What follows is about it.
  void read(const Page& page);
  const std::vector<Outside>& outside() const { return outside_; }
  // Returns the begin, and the end, of the call with this number.
  MadeEvent begin_of(std::uint32_t call) const;
  MadeEvent end_of(std::uint32_t call) const;
  // Returns whether the call's begin, or its end, has a place in the page, because its thread ran
  // on the page's CPU then, which must not be before the page. next: the page that follows it on
  // its CPU without a gap; nullptr: there is none.
  bool has_place(const Outside& call, const fkt_page_header* next) const;
  // Returns at most how many words the split page has; others: how many what it is given has.
  static std::uint64_t most_words(const Page& page, std::uint64_t given, std::uint64_t others);

  // Returns the page in its split form. given: what goes into it from other pages, each with a
  // place here. late: numbers of the calls of outside() whose begin is late, ascending; ended:
  // those whose end has a place elsewhere. place: the offset that the page's first word pretends to
  // have.
  Page split(std::span<const Given> given, std::span<const std::uint32_t> late,
             std::span<const std::uint32_t> ended, std::uint64_t place);

 private:
  enum class Kind : std::uint8_t { plain, lost, call, moved };
  struct Item {
    std::uint64_t clock = 0, end = 0;  // end: of a pair's end event, else as `clock`
    std::uint32_t at = 0;              // position of the event word
    std::uint32_t pid = 0, next_pid = 0;
    std::uint16_t words = 0;  // after the event word
    std::uint16_t call = 0;   // of Kind::call, moved: number in calls_
    Kind kind = Kind::plain;
  };
  struct Call {
    const CallEvent* type = nullptr;
    Event event{};
    std::uint32_t pid = 0;
    std::uint64_t begin = 0, end = 0;  // ticks
    std::uint64_t duration = 0;
    std::uint32_t item = 0;
    std::uint32_t end_item = 0;  // the end goes before this item
    bool at_once = false;        // the begin goes right before the end
    bool inside = false;         // the begin has a place before begin_item
    bool late_begin = false;     // `inside`, and in a pair
    bool late_end = false;
    std::uint32_t begin_item = 0;
  };
  // What is made and goes before an item; a list for each item.
  struct Mark {
    enum class Kind : std::uint8_t { begin, late_begin, end };
    std::uint64_t clock = 0;
    std::uint32_t next = 0;  // position in marks_ plus 1; 0: the last one
    std::uint32_t call = 0;
    const MadeEvent* event = nullptr;  // nullptr: made of the call
    Kind kind = Kind::begin;
  };
  class Writer;

  Event event_of(const Item& item) const;
  bool add_call(const CallEvent& type, Item& item);
  void place_end(Call& call, Item& item);
  void place_begin(Call& call);
  std::uint32_t item_after(std::uint64_t clock, std::uint32_t end) const;
  std::uint32_t item_after_end(std::uint64_t clock, std::uint32_t end) const;
  bool place_at(std::uint32_t item, std::uint64_t clock, std::uint32_t pid) const;
  std::uint64_t end_before(std::uint32_t item) const {
    return item > 0 ? items_[item - 1].end : page_->header.first_clock;
  }
  int on_cpu(const Item& item) const { return rules_.on_cpu[fkt_word_id(page_->words[item.at])]; }
  std::uint32_t late_place(const Call& call) const;
  void mark(std::uint32_t item, const Mark& mark);
  void mark_calls(std::span<const std::uint32_t> late);
  Error damage() const;

  const Rules& rules_;
  const Page* page_ = nullptr;
  RawVector<Item> items_;
  std::vector<Call> calls_;
  std::vector<Outside> outside_;
  std::uint32_t last_pid_ = 0;  // runs at the end of the page
  bool damaged_ = false;
  std::uint32_t bad_ = 0;   // position of the word that cannot be read
  bool too_short_ = false;  // its event is too short for its fields
  std::vector<Mark> marks_;
  std::vector<std::uint32_t> first_mark_;  // by item, and behind the last one
};

}  // namespace fkt
