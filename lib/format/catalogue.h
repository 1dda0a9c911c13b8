// SPDX-License-Identifier: GPL-2.0-only
// The event catalogue: the built-in one (expanded from include/fkt/events.def), or the one stored
// in a file.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/result.h"
#include "lib/format/event.h"
#include "lib/format/span_kind.h"

namespace fkt {

enum class FieldType {
  u,
  s,
  d,  // as `s`, and never the number of an error
  x,
  addr,
  uaddr,
  tid,
  cpu,
  syscall,
  syscall32,
  irq,
  vector,
  softirq,
  trap,
  exitcode,
  str,
  dev,     // a device's number as the kernel has it: 12 bits major, 20 bits minor; names: "dev"
  bytes,   // an array of bytes, over as many words as it needs
  ticks,   // a duration
  ip4,     // an address of IP version 4, as it is in a packet
  ip6,     // an address of IP version 6, as it is in a packet: 16 bytes
  port,    // of TCP or UDP, as it is in a packet
  stack,   // addresses of the kernel, up to the event's end (lib/format/stack_frames.h)
  ustack,  // addresses of a user program, up to the event's end
  named,   // a number whose names are in the catalogue (Catalogue::name())
  unknown
};

constexpr bool is_signed(FieldType type) {
  return type == FieldType::s || type == FieldType::d;
}
// Returns whether the value is an array of bytes, which may take several words, and not a number.
constexpr bool is_bytes(FieldType type) {
  return type == FieldType::bytes || type == FieldType::ip6;
}

// The use of a field, apart from being shown.
enum class FieldUse : std::uint8_t {
  none,
  key,       // tells types of spans apart, such as the number of a function
  begin,     // low bits of the time when the call began whose end the event is (ticks)
  duration,  // its duration (ticks)
};

struct Field {
  std::string name;
  FieldType type = FieldType::u;
  FieldUse use = FieldUse::none;
  // FieldType::named, dev, unknown: the type's name, which is that of the name table.
  std::string names;
  unsigned word = 0;  // 0: the argument, 1..: the words after the event word
  unsigned shift = 0;
  unsigned bits = 0;
};

enum class Role { point, begin, end };

// Fields of the events whose key is in [first, last].
struct KeyedFields {
  std::uint64_t first = 0, last = 0;
  std::vector<Field> fields;
};

// The layer of events whose key is in [first, last].
struct KeyedLayer {
  std::uint64_t first = 0, last = 0;
  unsigned layer = 0;  // bit number
};

// Role of the events whose key is in [first, last] in asynchronous spans, which begin and end on
// any CPU and in any task, such as a request to a disk.
struct KeyedAsync {
  std::uint64_t first = 0, last = 0;
  Role role = Role::point;  // begin or end
  std::string kind;         // "request"
  std::string match;        // name of the field by which an end finds its begin
  std::string lane;         // name of the field that tells what the span belongs to; empty: nothing
};

struct EventType {
  std::uint16_t id = 0;
  std::string name;
  unsigned layer = 0;  // bit number; that of a single event: layer_of()
  Role role = Role::point;
  std::string kind;  // kind of the span it begins or ends: "syscall", "irq", ...; empty for points
  // Words after the event word; nothing: variable, the argument says how many.
  std::optional<unsigned> words;
  std::vector<Field> fields;
  // The catalogue's lines "values" about its events; ascending by key.
  std::vector<KeyedFields> values{};
  // Likewise of lines "in".
  std::vector<KeyedLayer> layers{};
  // Likewise of lines "async".
  std::vector<KeyedAsync> async{};

  // A reader makes it of events with this id (lib/format/call_events.h); 0: it is in the file.
  std::uint16_t made_of = 0;
  bool late = false;  // made, and not at the time when its call began or ended

  // Returns the fields that this event has besides `fields`.
  std::span<const Field> values_of(const Event& event) const;
  // Returns the number of the bit of the event's layer.
  unsigned layer_of(const Event& event) const;
  // Returns which end of an asynchronous span the event is; nullptr: none.
  const KeyedAsync* async_of(const Event& event) const;
  // Returns the id that such events have in the file.
  std::uint16_t file_id() const { return made_of != 0 ? made_of : id; }
  // Returns the field with this use; nullptr: the event has none.
  const Field* field(FieldUse use) const;
  // Returns the event's field with this name; nullptr: it has none.
  const Field* field(const Event& event, std::string_view name) const;
  // Value of a field, sign-extended if is_signed(); nothing if the event is too short, or the
  // field is no number.
  static std::optional<std::uint64_t> value(const Field& field, const Event& event);
  // Text of a FieldType::str field, without its padding.
  static std::string text(const Field& field, const Event& event) {
    return std::string(text_view(field, event));
  }
  // As text(), without a copy; valid as long as the event.
  static std::string_view text_view(const Field& field, const Event& event);
  // The bytes of a field of such a type (is_bytes()).
  static ByteView bytes(const Field& field, const Event& event);
};

// Ids of words that stand for a begin, or for a begin and its end (wire.h, Pairs).
struct PairType {
  std::uint16_t first = 0, count = 0;  // ids
  std::uint16_t begin = 0, end = 0;    // ids of the two events
  // Which parts the end event's argument consists of: the pair's number, and its value shifted
  // left.
  bool number = false, value = false;
  unsigned shift = 0;

  std::uint32_t end_arg(std::uint32_t pair_number, std::int32_t pair_value) const {
    std::uint32_t arg = number ? pair_number : 0;
    if (value) arg |= static_cast<std::uint32_t>(pair_value) << shift;
    return arg & static_cast<std::uint32_t>(FKT_ARG_MASK);
  }
};

struct Layer {
  unsigned bit = 0;
  std::string name;
  std::string text;
};

class Catalogue {
 public:
  Catalogue();  // empty
  // This program's own catalogue, which is the one of recordings made with this version.
  static const Catalogue& builtin();
  // Parses the lines of an FKT_SEC_CATALOGUE section. Unknown kinds of lines and further columns
  // are ignored. Error (damaged): names the line.
  static Result<Catalogue> parse(std::string_view lines);
  // Adds lines that were written after the catalogue's own (FKT_SEC_DEFINITIONS). Returns the
  // number of the first one that makes no sense, or contradicts what is known, and is left out; of
  // the last one if the lines give too many fields, layers or spans to events; 0: all are good.
  std::size_t define(std::string_view lines);
  // Returns the text of the section, from which parse() makes an equal catalogue.
  std::string to_lines() const;

  // Returns the event with this id; nullptr: there is none.
  const EventType* find(std::uint16_t id) const {
    return id < by_id_.size() && by_id_[id] >= 0 ? &events_[by_id_[id]] : nullptr;
  }
  // Returns the number of words after an event word; nothing for an id not in the catalogue.
  std::optional<unsigned> words_after(std::uint64_t event_word) const;
  const std::vector<EventType>& events() const { return events_; }
  const std::vector<PairType>& pairs() const { return pairs_; }
  const std::vector<Layer>& layers() const { return layers_; }
  // Returns the layer with this bit number or name; nullptr: there is none.
  const Layer* layer(unsigned bit) const;
  const Layer* layer(std::string_view name) const;
  // Returns where spans of this kind nest.
  Nesting nesting(std::string_view kind) const;
  // Adds the event, or replaces the one with the same id.
  void set(EventType event);
  // Adds a kind of span that is not known.
  void add_span(std::string_view kind, Nesting nesting);
  // Returns the names of a field's values; nullptr: its type is no table of names.
  using NameTable = std::map<std::uint64_t, std::string>;
  const NameTable* names(const Field& field) const;
  // Returns the name of a value in that table; empty: it has none.
  std::string_view name(const Field& field, std::uint64_t value) const;
  // As name(); of a table that names flags, the names of those that are set: "WRITE|SYNC|0x40".
  std::string text(const Field& field, std::uint64_t value) const;
  // Returns whether the table has negative numbers, so that values without a name are signed.
  bool is_signed(const Field& field) const { return signed_tables_.contains(field.names); }

 private:
  void add(EventType event);
  std::string parse_line(std::string_view line);
  bool finish_lines();
  bool has_room(std::size_t more);
  void name_fields(std::vector<Field>& fields) const;
  bool parse_flag(std::string_view line);
  bool parse_name(std::string_view line);
  std::string parse_values(std::string_view line);
  bool parse_in(std::string_view line);
  void give_layer(const std::string& table, const KeyedLayer& keyed);
  bool parse_async(std::string_view line);
  void give_async(const std::string& table, const KeyedAsync& keyed);
  void give_values(const std::string& table, const KeyedFields& keyed);
  bool parse_span(std::string_view line);
  bool fits(const PairType& pair) const;
  std::vector<EventType> events_;
  std::vector<Layer> layers_;
  std::vector<PairType> pairs_;
  std::vector<std::pair<std::string, Nesting>> spans_;  // kind, in the order of their lines
  std::map<std::string, NameTable> names_;
  std::set<std::string> signed_tables_;
  // Bits and their names, in the order in which they are shown.
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> flags_;
  // The lines "values" by table of names and first number; no number is in two of a table.
  std::map<std::string, std::map<std::uint64_t, KeyedFields>> values_;
  std::vector<std::pair<std::string, KeyedLayer>> in_;     // by table of names, as in their lines
  std::vector<std::pair<std::string, KeyedAsync>> async_;  // likewise
  std::size_t by_key_ = 0;                                 // the sum that kMostByKey limits
  std::array<std::int16_t, 1 << FKT_ID_BITS> by_id_{};     // index into events_; -1: none
};

}  // namespace fkt
