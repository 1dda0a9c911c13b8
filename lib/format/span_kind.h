// SPDX-License-Identifier: GPL-2.0-only
// Kinds of spans: where a span of the kind nests, and which value tells its types apart. Both come
// from the file's catalogue (its "span" lines, and the field marked "key"), so that a recording may
// have kinds that this program does not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/format/event.h"

namespace fkt {

// Where a span nests, and what its time counts as.
enum class Nesting : std::uint8_t {
  // On its task, which is in at most one such span at a time and in user mode outside of it. Its
  // end does not say which one ends. System time.
  call,
  irq,      // on its CPU; interrupt time
  softirq,  // on its CPU; softirq time
  called,   // where it is called: in an interrupt, else on the task; counts as what is around it
  user,     // on its task, below everything that the kernel does for the task; user time
  // As `called`. Its begin was made of an event that was written at its end (call_events.h): it is
  // known to end, so no gap hides its end. No file has this one.
  complete,
  // As `user` and as `complete`.
  complete_user,
};

struct SpanKind {
  std::uint16_t bits = 5 << 3 | static_cast<int>(Nesting::called);  // the number, then the Nesting

  static constexpr SpanKind make(std::uint16_t number, Nesting nests) {
    return {static_cast<std::uint16_t>(number << 3 | static_cast<int>(nests))};
  }
  constexpr std::uint16_t number() const { return bits >> 3; }
  constexpr Nesting nests() const { return static_cast<Nesting>(bits & 7); }
  constexpr bool operator==(const SpanKind&) const = default;

  // The kinds that every FKT knows have the same numbers in each file; those of the file's own
  // catalogue follow them, from kOwnSpanKinds on.
  static const SpanKind syscall, syscall32, irq, vector, softirq, other;
};

inline constexpr SpanKind SpanKind::syscall = SpanKind::make(0, Nesting::call);
inline constexpr SpanKind SpanKind::syscall32 = SpanKind::make(1, Nesting::call);
inline constexpr SpanKind SpanKind::irq = SpanKind::make(2, Nesting::irq);
inline constexpr SpanKind SpanKind::vector = SpanKind::make(3, Nesting::irq);
inline constexpr SpanKind SpanKind::softirq = SpanKind::make(4, Nesting::softirq);
// Any kind of the file's own. A checkpoint stores this number for all of them, because the event
// that begins the span tells which one it is.
inline constexpr SpanKind SpanKind::other = SpanKind::make(5, Nesting::called);
inline constexpr std::uint16_t kOwnSpanKinds = 5;

constexpr bool is_complete(SpanKind kind) {
  return kind.nests() == Nesting::complete || kind.nests() == Nesting::complete_user;
}
// Spans of this kind nest where they are called.
constexpr bool is_called(SpanKind kind) {
  return kind.nests() == Nesting::called || kind.nests() == Nesting::complete;
}
// Spans of this kind nest on their CPU and are interrupts; all others nest on their task, or in
// such a span (Nesting::called).
constexpr bool on_cpu(SpanKind kind) {
  return kind.nests() == Nesting::irq || kind.nests() == Nesting::softirq;
}
constexpr bool is_syscall(SpanKind kind) {
  return kind.nests() == Nesting::call;
}
constexpr bool is_user(SpanKind kind) {
  return kind.nests() == Nesting::user || kind.nests() == Nesting::complete_user;
}

class Catalogue;
struct EventType;
struct Field;

// The kinds of spans in one catalogue.
class SpanKinds {
 public:
  struct Info {
    SpanKind kind;
    std::string name;            // as in the catalogue: "syscall", "irq", "function"
    const Field* key = nullptr;  // its value tells types apart; nullptr: the begin event's id does
    std::uint16_t begin = 0;     // id of the first event that begins such a span; 0: there is none
    std::uint32_t numbers = 0;   // values below this are kept in flat tables
  };

  // The catalogue must outlive this object.
  explicit SpanKinds(const Catalogue& catalogue);

  // Returns the kind of span that this event type begins or ends.
  SpanKind of(const EventType& type) const;
  // Valid for kinds of this catalogue.
  const Info& operator[](SpanKind kind) const { return kinds_[kind.number()]; }
  // number: of a kind, below size().
  const Info& info(std::uint16_t number) const { return kinds_[number]; }
  std::uint16_t size() const { return static_cast<std::uint16_t>(kinds_.size()); }
  // Returns the field of the event type that holds its span's key; nullptr: it has none.
  const Field* key(const EventType& type) const;

 private:
  void add(const EventType& type, Nesting nests);
  void find_keys(const Catalogue& catalogue);
  void set_numbers(const Catalogue& catalogue);

  std::vector<Info> kinds_;                            // by number
  std::unordered_map<std::string, SpanKind> by_name_;  // the file's own
};

}  // namespace fkt
