// SPDX-License-Identifier: GPL-2.0-only
#include "lib/scan/digest_rules.h"

#include <algorithm>

#include "lib/analyse/running_tasks.h"
#include "lib/analyse/tasks.h"

namespace fkt {
namespace {

// Returns true if WordTable (lib/read/page_decoder.h) takes the event for one that sets the running
// thread.
bool sets_thread(const EventType& type) {
  return (type.id & ~0xfU) == FKT_E_SWITCH_R && type.words;
}

}  // namespace

// Returns the entry of an event. Unusual events get Op::alone: Analysis handles them one by one.
DigestRules::Entry DigestRules::entry(const EventType& type, const SpanKinds& kinds) {
  Entry entry{.op = Op::alone};
  entry.words = static_cast<std::uint16_t>(type.words.value_or(0));
  if (sets_thread(type)) {
    const bool ordinary = is_switch(type.id) && type.role == Role::point && entry.words == 0;
    entry.op = ordinary ? Op::leave : Op::switched;
    return entry;
  }
  if (type.role == Role::point) {
    if (is_switch(type.id)) return entry;
    if (type.id == FKT_E_FAULT_USER) {
      entry.op = Op::fault;
    } else if (!describes_task(type.id) && type.id != FKT_E_MASK) {
      entry.op = Op::point;
    }
    return entry;
  }
  entry.kind = kinds.of(type);
  if (type.id == FKT_E_IRQ_ENTRY_NAMED || is_user(entry.kind) || type.late) return entry;
  set_key(entry, type, kinds.key(type));
  return entry;
}

// Sets how to read the key of a begin or end, and whether the event can be part of a burst.
void DigestRules::set_key(Entry& entry, const EventType& type, const Field* key) {
  const bool ends = type.role == Role::end, own = entry.kind.number() >= kOwnSpanKinds;
  const bool any = ends && is_syscall(entry.kind);  // it need not say which call it ends
  if (key == nullptr) {
    if (!own && !any) return;
    entry.first = ends ? std::uint16_t{0} : type.id;
  } else {
    const bool whole_word = key->word == 1 && key->bits == 64 && entry.words > 0;
    const bool argument = key->word == 0 && key->bits <= FKT_ARG_BITS;
    if (!any && (key->shift != 0 || (!whole_word && !argument))) return;
    entry.in_word = whole_word;
    entry.mask = static_cast<std::uint32_t>((1ULL << (argument ? key->bits : 0)) - 1);
    entry.same_key = ends && !any;
  }
  entry.op = ends ? Op::end : Op::begin;
}

DigestRules::DigestRules(const Catalogue& catalogue, const SharedTypeTable& types, bool states) {
  for (const EventType& type : catalogue.events()) {
    Entry& known = entries_[type.id] = entry(type, types.kinds());
    if (states && (is_wake_up(type.id) || known.op == Op::fault)) known.op = Op::alone;
    if (!type.words) known.op = known.op == Op::point ? Op::long_point : Op::long_alone;
  }
  for (const PairType& pair : catalogue.pairs()) {
    const Entry begin = entries_[pair.begin], end = entries_[pair.end];
    // The pair's end event must end what its begin event begins.
    const std::uint32_t last = pair.count - 1U;
    const bool call = is_syscall(begin.kind) && is_syscall(end.kind);
    const bool key = pair.number && !end.in_word && (last & ~end.mask) == 0 &&
                     (!pair.value || (end.mask >> std::min(pair.shift, 31U)) == 0);
    const bool same = begin.kind == end.kind && (key || !end.same_key);
    const bool ordinary = begin.op == Op::begin && end.op == Op::end && !begin.in_word &&
                          begin.first == 0 && (last & ~begin.mask) == 0 && (call || same) &&
                          last < types.kinds()[begin.kind].numbers;
    const std::uint8_t nesting = ordinary ? nesting_bit(begin.kind.nests()) : std::uint8_t{0};
    for (std::uint32_t id = pair.first; id <= pair.first + last; id++) {
      entries_[id] = {.op = ordinary ? Op::pair : Op::odd_pair,
                      .pair = nesting,
                      .kind = begin.kind,
                      .first = pair.first,
                      .begin = pair.begin,
                      .mask = types.slot(begin.kind) - pair.first};
    }
  }
  entries_[FKT_W_PID].op = Op::pid;
  entries_[FKT_W_TIME].op = Op::time;
  entries_[FKT_W_LOST] = {.op = Op::lost, .words = FKT_LOST_WORDS};
}

}  // namespace fkt
