// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/catalogue.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "lib/format/field_text.h"

namespace fkt {
namespace {

constexpr std::pair<std::string_view, Nesting> kNestings[] = {
    {"call", Nesting::call},     {"irq", Nesting::irq},   {"softirq", Nesting::softirq},
    {"called", Nesting::called}, {"user", Nesting::user},
};

bool parse_role(std::string_view text, EventType& event) {
  const std::string_view role = take_until(text, ':');
  event.kind = text;
  if (role == "point") {
    event.role = Role::point;
  } else if (role == "begin") {
    event.role = Role::begin;
  } else if (role == "end") {
    event.role = Role::end;
  } else {
    return false;
  }
  return event.kind.empty() == (event.role == Role::point);
}

bool parse_words(std::string_view text, std::optional<unsigned>& words) {
  unsigned count = 0;
  if (text == "var") {
    words.reset();
    return true;
  }
  if (!parse_number(text, count) || count > FKT_VAR_MASK) return false;
  words = count;
  return true;
}

// The columns after "event".
bool parse_event(std::string_view line, EventType& event) {
  if (!parse_number(take_until(line, '\t'), event.id, 16) || event.id > FKT_ID_MASK) return false;
  event.name = take_until(line, '\t');
  return parse_number(take_until(line, '\t'), event.layer) && event.layer < 64 &&
         parse_role(take_until(line, '\t'), event) &&
         parse_words(take_until(line, '\t'), event.words) &&
         parse_fields(take_until(line, '\t'), event.fields);
}

bool parse_layer(std::string_view line, Layer& layer) {
  if (!parse_number(take_until(line, '\t'), layer.bit) || layer.bit >= 64) return false;
  layer.name = take_until(line, '\t');
  layer.text = take_until(line, '\t');
  return true;
}

// "number", "value", "value<<22", "number+value<<22".
bool parse_end_arg(std::string_view text, PairType& pair) {
  while (!text.empty()) {
    std::string_view term = take_until(text, '+');
    if (term == "number") {
      pair.number = true;
      continue;
    }
    if (take_until(term, '<') != "value") return false;
    pair.value = true;
    if (term.empty()) continue;
    if (take_until(term, '<') != "" || !parse_number(term, pair.shift)) return false;
  }
  return (pair.number || pair.value) && pair.shift < FKT_ARG_BITS;
}

std::string end_arg_text(const PairType& pair) {
  std::string text = pair.number ? "number" : "";
  if (!pair.value) return text;
  if (pair.number) text += '+';
  text += "value";
  return pair.shift == 0 ? text : fmt::format("{}<<{}", text, pair.shift);
}

// The columns after "pair".
bool parse_pair(std::string_view line, PairType& pair) {
  return parse_number(take_until(line, '\t'), pair.first, 16) &&
         parse_number(take_until(line, '\t'), pair.count) &&
         parse_number(take_until(line, '\t'), pair.begin, 16) &&
         parse_number(take_until(line, '\t'), pair.end, 16) &&
         parse_end_arg(take_until(line, '\t'), pair);
}

struct BuiltinEvent {
  std::uint16_t id;
  unsigned layer;
  std::string_view name, role;
  unsigned words;
  std::string_view fields;
};

// The built-in catalogue, expanded from include/fkt/events.def.
constexpr BuiltinEvent kBuiltinEvents[] = {
#define FKT_EVENT(id, NAME, LAYER, name, role, words, fields) \
  {id, FKT_L_##LAYER, name, role, words, fields},
#include <fkt/events.def>
};

constexpr struct {
  std::uint16_t first, count, begin, end;
  std::string_view end_arg;
} kBuiltinPairs[] = {
#define FKT_PAIR(id, NAME, count, BEGIN, END, end_arg) \
  {id, count, FKT_E_##BEGIN, FKT_E_##END, end_arg},
#include <fkt/events.def>
};

constexpr struct {
  std::string_view kind, nesting;
} kBuiltinSpans[] = {
#define FKT_SPAN(kind, nesting) {kind, nesting},
#include <fkt/events.def>
};

constexpr struct {
  unsigned bit;
  std::string_view name, text;
} kBuiltinLayers[] = {
#define FKT_LAYER(bit, NAME, name, text) {bit, name, text},
#include <fkt/events.def>
};

// Maximum number of flags in a table, as all of them are compared with each value.
constexpr std::size_t kMostFlags = 1024;
// Maximum number of fields, layers and spans that the lines "values", "in" and "async" give to
// events. Each event with a key of the line's table gets its own copy. Enough for 50,000 functions
// with eight fields each in four kinds of events.
constexpr std::size_t kMostByKey = 1 << 21;

Error malformed(std::size_t line, std::string_view why) {
  return {ErrorCode::damaged, fmt::format("catalogue: line {}: {}", line, why)};
}

std::string role_text(const EventType& event) {
  switch (event.role) {
    case Role::begin:
      return "begin:" + event.kind;
    case Role::end:
      return "end:" + event.kind;
    case Role::point:
      break;
  }
  return "point";
}

}  // namespace

Catalogue::Catalogue() {
  by_id_.fill(-1);
}

void Catalogue::add(EventType event) {
  by_id_[event.id] = static_cast<std::int16_t>(events_.size());
  events_.push_back(std::move(event));
}

void Catalogue::set(EventType event) {
  const std::int16_t known = by_id_[event.id];
  if (known < 0) return add(std::move(event));
  events_[known] = std::move(event);
}

void Catalogue::add_span(std::string_view kind, Nesting nesting) {
  spans_.emplace_back(kind, nesting);
}

// Returns true if the pair's ids are in the range of pairs and not yet taken, and its two events
// are in the catalogue and have no words after the event word.
bool Catalogue::fits(const PairType& pair) const {
  const EventType *begin = find(pair.begin), *end = find(pair.end);
  const unsigned behind = pair.first + pair.count;
  if (begin == nullptr || end == nullptr || begin->words != 0u || end->words != 0u) return false;
  if (pair.first < FKT_PAIR_ID || pair.count == 0 || behind > FKT_ID_MASK + 1) return false;
  return std::ranges::none_of(pairs_, [&](const PairType& other) {
    return pair.first < other.first + other.count && other.first < behind;
  });
}

const Catalogue& Catalogue::builtin() {
  static const Catalogue catalogue = [] {
    Catalogue built;
    for (const auto& layer : kBuiltinLayers) {
      built.layers_.push_back({layer.bit, std::string(layer.name), std::string(layer.text)});
    }
    for (const BuiltinEvent& source : kBuiltinEvents) {
      EventType event;
      event.id = source.id;
      event.name = source.name;
      event.layer = source.layer;
      if (source.words != FKT_VARIABLE) event.words = source.words;
      [[maybe_unused]] const bool valid =
          parse_role(source.role, event) && parse_fields(source.fields, event.fields);
      assert(valid && "events.def: role or fields do not follow its own rules");
      built.add(std::move(event));
    }
    for (const auto& source : kBuiltinSpans) {
      [[maybe_unused]] const bool valid =
          built.parse_span(std::string(source.kind) + '\t' + std::string(source.nesting));
      assert(valid && "events.def: unknown nesting");
    }
    for (const auto& source : kBuiltinPairs) {
      PairType pair{source.first, source.count, source.begin, source.end};
      [[maybe_unused]] const bool valid = parse_end_arg(source.end_arg, pair) && built.fits(pair);
      assert(valid && "events.def: a pair does not follow its own rules");
      built.pairs_.push_back(pair);
    }
    return built;
  }();
  return catalogue;
}

// The columns after "span": kind, nesting. A nesting that this program does not know is left out.
bool Catalogue::parse_span(std::string_view line) {
  const std::string_view kind = take_until(line, '\t');
  const std::string_view text = take_until(line, '\t');
  const auto* nesting =
      std::ranges::find(kNestings, text, &std::pair<std::string_view, Nesting>::first);
  if (kind.empty() || text.empty()) return false;
  if (nesting != std::end(kNestings)) spans_.emplace_back(kind, nesting->second);
  return true;
}

// The columns after "name": table, number, name.
bool Catalogue::parse_name(std::string_view line) {
  const std::string_view table = take_until(line, '\t');
  const std::string_view text = take_until(line, '\t');
  std::uint64_t number = 0;
  std::int64_t negative = 0;
  if (table.empty()) return false;
  if (text.starts_with('-') && parse_number(text, negative)) {
    number = static_cast<std::uint64_t>(negative);
    signed_tables_.emplace(table);
  } else if (!parse_number(text, number)) {
    return false;
  }
  names_[std::string(table)].insert_or_assign(number, std::string(take_until(line, '\t')));
  return true;
}

// Makes fields whose type is the name of a table FieldType::named.
void Catalogue::name_fields(std::vector<Field>& fields) const {
  for (Field& field : fields) {
    const bool known = names_.contains(field.names) || flags_.contains(field.names);
    if (field.type == FieldType::unknown && known) field.type = FieldType::named;
  }
}

// The columns after "flag": table, bits, name.
bool Catalogue::parse_flag(std::string_view line) {
  const std::string_view table = take_until(line, '\t');
  std::uint64_t bits = 0;
  if (table.empty() || !parse_number(take_until(line, '\t'), bits)) return false;
  std::pair<std::uint64_t, std::string> flag(bits, take_until(line, '\t'));
  auto& flags = flags_[std::string(table)];
  // Definitions may come several times in a recording.
  if (std::ranges::find(flags, flag) != flags.end()) return true;
  if (flags.size() == kMostFlags) return false;
  flags.push_back(std::move(flag));
  return true;
}

// The columns after "values": table of the key's names, first and last number, fields. Words of the
// fields count from the first one behind the event's own fields. Returns what is wrong; empty:
// nothing.
std::string Catalogue::parse_values(std::string_view line) {
  const std::string_view table = take_until(line, '\t');
  KeyedFields keyed;
  if (table.empty() || !parse_number(take_until(line, '\t'), keyed.first) ||
      !parse_number(take_until(line, '\t'), keyed.last) || keyed.last < keyed.first ||
      !parse_fields(take_until(line, '\t'), keyed.fields)) {
    return "not a table of names, first and last number, fields";
  }
  auto& lines = values_[std::string(table)];
  const auto behind = lines.upper_bound(keyed.last);
  if (behind != lines.begin() && std::prev(behind)->second.last >= keyed.first) {
    return "a line \"values\" before it has the same number";
  }
  lines.emplace_hint(behind, keyed.first, std::move(keyed));
  return {};
}

// Gives the fields to the events of variable length whose key has its names in `table`.
void Catalogue::give_values(const std::string& table, const KeyedFields& keyed) {
  for (EventType& event : events_) {
    const Field* const key = event.field(FieldUse::key);
    if (event.words || key == nullptr || key->names != table) continue;
    if (!has_room(1 + keyed.fields.size())) return;
    const unsigned own = std::ranges::max_element(event.fields, {}, &Field::word)->word;
    event.values.push_back(keyed);
    for (Field& field : event.values.back().fields) field.word += own;
  }
}

// The columns after "in": table of the key's names, first and last number, layer.
bool Catalogue::parse_in(std::string_view line) {
  const std::string_view table = take_until(line, '\t');
  KeyedLayer keyed;
  if (table.empty() || !parse_number(take_until(line, '\t'), keyed.first) ||
      !parse_number(take_until(line, '\t'), keyed.last) || keyed.last < keyed.first ||
      !parse_number(take_until(line, '\t'), keyed.layer) || keyed.layer >= 64) {
    return false;
  }
  in_.emplace_back(table, keyed);
  return true;
}

// Puts the events whose key has its names in `table` into the layer.
void Catalogue::give_layer(const std::string& table, const KeyedLayer& keyed) {
  for (EventType& event : events_) {
    const Field* const key = event.field(FieldUse::key);
    if (key == nullptr || key->names != table) continue;
    if (!has_room(1)) return;
    event.layers.push_back(keyed);
  }
}

// The columns after "async": table of the key's names, first and last number, "begin" or "end",
// kind of span, the field by which both find each other, and the field that tells what the span
// belongs to.
bool Catalogue::parse_async(std::string_view line) {
  const std::string_view table = take_until(line, '\t');
  KeyedAsync keyed;
  if (table.empty() || !parse_number(take_until(line, '\t'), keyed.first) ||
      !parse_number(take_until(line, '\t'), keyed.last) || keyed.last < keyed.first) {
    return false;
  }
  const std::string_view role = take_until(line, '\t');
  if (role == "begin") keyed.role = Role::begin;
  if (role == "end") keyed.role = Role::end;
  keyed.kind = take_until(line, '\t');
  keyed.match = take_until(line, '\t');
  keyed.lane = take_until(line, '\t');
  if (keyed.role == Role::point || keyed.kind.empty() || keyed.match.empty()) return false;
  async_.emplace_back(table, std::move(keyed));
  return true;
}

void Catalogue::give_async(const std::string& table, const KeyedAsync& keyed) {
  for (EventType& event : events_) {
    const Field* const key = event.field(FieldUse::key);
    if (key == nullptr || key->names != table) continue;
    if (!has_room(1)) return;
    event.async.push_back(keyed);
  }
}

Nesting Catalogue::nesting(std::string_view kind) const {
  const auto line = std::ranges::find(spans_, kind, &std::pair<std::string, Nesting>::first);
  if (line != spans_.end()) return line->second;
  // Files of older versions have no such lines.
  if (kind == "syscall") return Nesting::call;
  if (kind == "irq" || kind == "vector") return Nesting::irq;
  return kind == "softirq" ? Nesting::softirq : Nesting::called;
}

const Catalogue::NameTable* Catalogue::names(const Field& field) const {
  if (field.type != FieldType::named && field.type != FieldType::dev) return nullptr;
  const auto table = names_.find(field.names);
  return table == names_.end() ? nullptr : &table->second;
}

std::string_view Catalogue::name(const Field& field, std::uint64_t value) const {
  const NameTable* const table = names(field);
  if (table == nullptr) return {};
  const auto found = table->find(value);
  return found == table->end() ? std::string_view() : std::string_view(found->second);
}

std::string Catalogue::text(const Field& field, std::uint64_t value) const {
  const std::string_view known = name(field, value);
  const auto table = flags_.find(field.names);
  if (!known.empty() || field.type != FieldType::named || table == flags_.end()) {
    return std::string(known);
  }
  std::string text;
  std::uint64_t rest = value;
  std::uint64_t behind = 0;  // bits of the flags that are printed behind this one
  for (const auto& flag : table->second) behind |= flag.first;
  for (const auto& [bits, flag] : table->second) {
    behind &= ~bits;
    const bool is_set = bits == 0 ? (value & ~behind) == 0 : (rest & bits) == bits;
    if (!is_set) continue;
    // A sign, as the + of a task that was preempted, is printed without a separator.
    const bool is_sign = flag.size() == 1 && std::ispunct(static_cast<unsigned char>(flag[0])) != 0;
    text += (text.empty() || is_sign ? "" : "|") + flag;
    rest &= ~bits;
  }
  if (rest != 0 && !text.empty()) text += '|' + hex(rest);
  return rest != 0 && text.empty() ? hex(rest) : text;
}

// Returns what is wrong with the line; empty: nothing. finish_lines() must follow.
std::string Catalogue::parse_line(std::string_view line) {
  const std::string_view kind = take_until(line, '\t');
  if (kind == "layer") {
    Layer layer;
    if (!parse_layer(line, layer)) return "not a layer's bit, name, text";
    layers_.push_back(std::move(layer));
  } else if (kind == "event") {
    EventType event;
    if (!parse_event(line, event)) return "not an event's id, name, layer, role, words, fields";
    if (event.id <= FKT_W_LOST || event.id >= kMadeBegins || find(event.id)) {
      return "event id " + hex(event.id) + " is taken";
    }
    add(std::move(event));
  } else if (kind == "pair") {
    PairType pair;
    if (!parse_pair(line, pair) || !fits(pair)) {
      return "not a pair's id, number of ids, begin, end, end's argument";
    }
    pairs_.push_back(pair);
  } else if (kind == "span" && !parse_span(line)) {
    return "not a kind of span and where it nests";
  } else if (kind == "name" && !parse_name(line)) {
    return "not a table of names, a number and its name";
  } else if (kind == "flag" && !parse_flag(line)) {
    return "not a table of flags, bits and their name, or too many of them";
  } else if (kind == "values") {
    return parse_values(line);
  } else if (kind == "in" && !parse_in(line)) {
    return "not a table of names, first and last number, a layer's bit";
  } else if (kind == "async" && !parse_async(line)) {
    return "not a table of names, first and last number, begin or end, a kind, a field";
  }
  return {};
}

// Called after all lines are parsed: events use tables and values from any of them.
// Returns false when the lines give more than kMostByKey to the events; the rest is left out.
bool Catalogue::finish_lines() {
  by_key_ = 0;
  for (EventType& event : events_) {
    name_fields(event.fields);
    event.values.clear();
    event.layers.clear();
    event.async.clear();
  }
  for (auto& [table, lines] : values_) {
    for (auto& [first, keyed] : lines) {
      name_fields(keyed.fields);
      give_values(table, keyed);
    }
  }
  for (const auto& [table, keyed] : in_) give_layer(table, keyed);
  for (const auto& [table, keyed] : async_) give_async(table, keyed);
  for (EventType& event : events_) {
    std::ranges::sort(event.layers, {}, &KeyedLayer::first);
    std::ranges::stable_sort(event.async, {}, &KeyedAsync::first);
  }
  return by_key_ <= kMostByKey;
}

// Counts the fields, layers or spans that a line is about to give to an event. Returns false when
// the sum exceeds kMostByKey.
bool Catalogue::has_room(std::size_t more) {
  if (by_key_ <= kMostByKey) by_key_ += more;
  return by_key_ <= kMostByKey;
}

Result<Catalogue> Catalogue::parse(std::string_view lines) {
  Catalogue catalogue;
  Error error;
  const auto parse_line = [&](std::string_view line, std::size_t number) {
    const std::string wrong = catalogue.parse_line(line);
    if (!wrong.empty()) error = malformed(number, wrong);
    return wrong.empty();
  };
  if (!for_each_line(lines, parse_line)) return error;
  if (!catalogue.finish_lines()) {
    return Error{ErrorCode::damaged, "catalogue: too many fields, layers or spans by number"};
  }
  return catalogue;
}

std::size_t Catalogue::define(std::string_view lines) {
  std::size_t bad_line = 0, last_line = 0;
  for_each_line(lines, [&](std::string_view line, std::size_t number) {
    if (!parse_line(line).empty() && bad_line == 0) bad_line = number;
    last_line = number;
    return true;
  });
  return finish_lines() || bad_line != 0 ? bad_line : last_line;
}

std::string Catalogue::to_lines() const {
  std::string out;
  for (const Layer& layer : layers_) {
    out += fmt::format("layer\t{}\t{}\t{}\n", layer.bit, layer.name, layer.text);
  }
  for (const EventType& event : events_) {
    out += fmt::format("event\t{:x}\t{}\t{}\t{}\t{}\t", event.id, event.name, event.layer,
                       role_text(event), event.words ? std::to_string(*event.words) : "var");
    out += fields_text(event.fields) + '\n';
  }
  for (const auto& [kind, nesting] : spans_) {
    const auto* name =
        std::ranges::find(kNestings, nesting, &std::pair<std::string_view, Nesting>::second);
    out += "span\t" + kind + '\t' + std::string(name->first) + '\n';
  }
  for (const PairType& pair : pairs_) {
    out += fmt::format("pair\t{:x}\t{}\t{:x}\t{:x}\t{}\n", pair.first, pair.count, pair.begin,
                       pair.end, end_arg_text(pair));
  }
  for (const auto& [table, names] : names_) {
    for (const auto& [number, name] : names) {
      const auto as_signed = static_cast<std::int64_t>(number);
      const bool is_negative = as_signed < 0 && signed_tables_.contains(table);
      out += fmt::format("name\t{}\t{}\t{}\n", table,
                         is_negative ? std::to_string(as_signed) : std::to_string(number), name);
    }
  }
  for (const auto& [table, flags] : flags_) {
    for (const auto& [bits, name] : flags) {
      out += fmt::format("flag\t{}\t{}\t{}\n", table, bits, name);
    }
  }
  for (const auto& [table, lines] : values_) {
    for (const auto& [first, keyed] : lines) {
      out += fmt::format("values\t{}\t{}\t{}\t{}\n", table, first, keyed.last,
                         fields_text(keyed.fields));
    }
  }
  for (const auto& [table, keyed] : in_) {
    out += "in\t" + table + '\t' + std::to_string(keyed.first) + '\t' + std::to_string(keyed.last) +
           '\t' + std::to_string(keyed.layer) + '\n';
  }
  for (const auto& [table, keyed] : async_) {
    out += fmt::format("async\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", table, keyed.first, keyed.last,
                       keyed.role == Role::begin ? "begin" : "end", keyed.kind, keyed.match,
                       keyed.lane);
  }
  return out;
}

std::optional<unsigned> Catalogue::words_after(std::uint64_t event_word) const {
  const std::uint32_t id = fkt_word_id(event_word);
  if (id == FKT_W_PID || id == FKT_W_TIME) return 0;
  if (id == FKT_W_LOST) return FKT_LOST_WORDS;
  const EventType* event = find(static_cast<std::uint16_t>(id));
  if (!event) {
    const bool pair =
        std::ranges::any_of(pairs_, [&](const PairType& p) { return id - p.first < p.count; });
    return pair ? std::optional(0u) : std::nullopt;
  }
  return event->words ? *event->words : fkt_word_arg(event_word) & FKT_VAR_MASK;
}

const Layer* Catalogue::layer(unsigned bit) const {
  const auto found = std::ranges::find(layers_, bit, &Layer::bit);
  return found == layers_.end() ? nullptr : &*found;
}

const Layer* Catalogue::layer(std::string_view name) const {
  const auto found = std::ranges::find(layers_, name, &Layer::name);
  return found == layers_.end() ? nullptr : &*found;
}

}  // namespace fkt
