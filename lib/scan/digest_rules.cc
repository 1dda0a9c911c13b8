// SPDX-License-Identifier: GPL-2.0-only
#include "lib/scan/digest_rules.h"

#include <algorithm>

#include "lib/analyse/tasks.h"
#include "lib/scan/shared_type_table.h"

namespace fkt {
namespace {

// Returns true if WordTable (lib/read/page_decoder.h) takes the event for one that sets the running
// thread.
bool sets_thread(const EventType& type) {
  return (type.id & ~0xfU) == FKT_E_SWITCH_R && type.words;
}

bool changes_tasks(std::uint16_t id) {
  switch (id) {
    case FKT_E_MASK:
    case FKT_E_FORK:
    case FKT_E_EXEC:
    case FKT_E_EXIT:
    case FKT_E_PID_FREE:
    case FKT_E_RENAME:
      return true;
    default:
      return false;
  }
}

}  // namespace

// Returns the entry of an event. Unusual events get Op::alone: Analysis handles them one by one.
DigestRules::Entry DigestRules::entry(const EventType& type) {
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
    } else if (!changes_tasks(type.id)) {
      entry.op = Op::point;
    }
    return entry;
  }
  entry.kind = span_kind(type);
  const bool by_number = type.id != FKT_E_IRQ_ENTRY_NAMED && entry.kind != SpanKind::other;
  if (!by_number || type.fields.empty()) {
    // The exit of a system call need not say which call it ends.
    if (!is_syscall(entry.kind) || type.role != Role::end) return entry;
  } else {
    const Field& number = type.fields[0];
    const bool whole_word = number.word == 1 && number.bits == 64 && entry.words > 0;
    const bool argument = number.word == 0 && number.bits <= FKT_ARG_BITS;
    const bool any = is_syscall(entry.kind) && type.role == Role::end;
    if (number.shift != 0 || (!whole_word && !argument && !any)) return entry;
    entry.in_word = whole_word;
    entry.mask = static_cast<std::uint32_t>((1ULL << (argument ? number.bits : 0)) - 1);
  }
  entry.op = type.role == Role::begin ? Op::begin : Op::end;
  return entry;
}

DigestRules::DigestRules(const Catalogue& catalogue) {
  for (const EventType& type : catalogue.events()) {
    Entry& known = entries_[type.id] = entry(type);
    if (!type.words) known.op = known.op == Op::point ? Op::long_point : Op::long_alone;
  }
  for (const PairType& pair : catalogue.pairs()) {
    const Entry begin = entries_[pair.begin], end = entries_[pair.end];
    // The pair's end event must end what its begin event begins.
    const std::uint32_t last = pair.count - 1U;
    const bool call = is_syscall(begin.kind) && is_syscall(end.kind);
    const bool same = begin.kind == end.kind && pair.number && !end.in_word &&
                      (last & ~end.mask) == 0 &&
                      (!pair.value || (end.mask >> std::min(pair.shift, 31U)) == 0);
    const bool ordinary = begin.op == Op::begin && end.op == Op::end && !begin.in_word &&
                          (last & ~begin.mask) == 0 && (call || same);
    for (std::uint32_t id = pair.first; id <= pair.first + last; id++) {
      entries_[id] = {.op = ordinary ? Op::pair : Op::odd_pair,
                      .kind = begin.kind,
                      .pair = ordinary ? kind_bit(begin.kind) : std::uint8_t{0},
                      .first = pair.first,
                      .begin = pair.begin,
                      .mask = SharedTypeTable::slot(begin.kind) - pair.first};
    }
  }
  entries_[FKT_W_PID].op = Op::pid;
  entries_[FKT_W_TIME].op = Op::time;
  entries_[FKT_W_LOST] = {.op = Op::lost, .words = FKT_LOST_WORDS};
}

}  // namespace fkt
