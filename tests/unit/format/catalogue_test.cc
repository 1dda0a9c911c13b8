// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/catalogue.h"

#include <cstring>
#include <map>
#include <set>

#include <fmt/core.h>

#include <catch2/catch.hpp>

using fkt::Catalogue;
using fkt::Event;
using fkt::EventType;
using fkt::FieldType;

namespace {

const fkt::Field& field(std::uint16_t id, std::string_view name) {
  const EventType* type = Catalogue::builtin().find(id);
  REQUIRE(type);
  for (const fkt::Field& f : type->fields) {
    if (f.name == name) return f;
  }
  FAIL("no field " << name);
  return type->fields.front();
}

}  // namespace

TEST_CASE("no event id and no layer bit stands twice in events.def") {
  std::set<unsigned> ids, bits;
  std::set<std::string> names;
  for (const EventType& event : Catalogue::builtin().events()) {
    CHECK(event.id > FKT_W_LOST);
    CHECK(event.id <= FKT_ID_MASK);
    CHECK(ids.insert(event.id).second);
    CHECK(Catalogue::builtin().layer(event.layer));
  }
  for (const fkt::Layer& layer : Catalogue::builtin().layers()) {
    CHECK(bits.insert(layer.bit).second);
    CHECK(names.insert(layer.name).second);
  }
  CHECK(ids.size() > 50);
  CHECK(bits.size() > 3);
}

TEST_CASE("events.def: fields have known types and lie within their event's words") {
  for (const EventType& event : Catalogue::builtin().events()) {
    for (const fkt::Field& f : event.fields) {
      INFO(event.name << "." << f.name);
      CHECK((f.type != FieldType::unknown || f.names == "function" || f.names == "tracepoint" ||
             f.names == "instruction" || f.names == "user" || f.names == "user_function" ||
             f.names == "dev"));
      if (event.words) CHECK(f.word <= *event.words);
      if (event.words && f.type == FieldType::str) {
        CHECK((f.word - 1) * 64 + f.bits <= *event.words * 64);
      }
    }
  }
}

TEST_CASE("events.def: ids of one name are forms of one event") {
  std::map<std::string, const EventType*> first;
  for (const EventType& event : Catalogue::builtin().events()) {
    const auto [it, fresh] = first.emplace(event.name, &event);
    if (fresh) continue;
    CHECK(it->second->layer == event.layer);
    CHECK(it->second->role == event.role);
    CHECK(it->second->kind == event.kind);
  }
}

TEST_CASE("the builtin catalogue survives the way through a file") {
  const std::string lines = Catalogue::builtin().to_lines();
  const auto parsed = Catalogue::parse(lines);
  REQUIRE(parsed);
  CHECK(parsed->to_lines() == lines);
  CHECK(parsed->events().size() == Catalogue::builtin().events().size());
  for (const EventType& event : Catalogue::builtin().events()) {
    const EventType* other = parsed->find(event.id);
    REQUIRE(other);
    CHECK(other->name == event.name);
    CHECK(other->words == event.words);
    CHECK(other->fields.size() == event.fields.size());
  }
}

TEST_CASE("unknown lines, columns and field types of a newer FKT are ignored") {
  const auto parsed = Catalogue::parse(
      "colour\tblue\n"
      "layer\t63\tnew\ttext\tmore\n"
      "event\t7bc\tthing\t63\tpoint\t1\ta:wavelength:1:0:64\tmore\n");
  REQUIRE(parsed);
  REQUIRE(parsed->find(0x7bc));
  CHECK(parsed->find(0x7bc)->fields.at(0).type == FieldType::unknown);
  CHECK(parsed->find(0x7bd) == nullptr);
  CHECK(parsed->layer("new") == parsed->layer(63));
}

TEST_CASE("kinds of spans, keys and their names survive the way through a file") {
  const std::string lines =
      "event\t100\tfunction\t0\tbegin:function\t1\tnr:functions:1:0:64:key from:x:0:0:24\n"
      "event\t101\tfunction_end\t0\tend:function\t0\t\n"
      "event\t102\tcall\t0\tbegin:user_function\t0\tto:others:0:0:24:key\n"
      "span\tuser_function\tuser\n"
      "name\tfunctions\t0\tvfs_read\n"
      "name\tfunctions\t49999\tkmalloc\n";
  const auto parsed = Catalogue::parse(lines);
  REQUIRE(parsed);
  CHECK(parsed->to_lines() == lines);
  const EventType* begin = parsed->find(0x100);
  REQUIRE(begin);
  const fkt::Field* key = begin->field(fkt::FieldUse::key);
  REQUIRE(key == &begin->fields[0]);
  CHECK(key->type == FieldType::named);
  CHECK(parsed->name(*key, 49'999) == "kmalloc");
  CHECK(parsed->name(*key, 1).empty());
  CHECK(parsed->name(begin->fields[1], 0).empty());
  CHECK(parsed->find(0x101)->field(fkt::FieldUse::key) == nullptr);
  CHECK(parsed->find(0x102)->fields[0].type == FieldType::unknown);  // there is no such table
  CHECK(parsed->nesting("function") == fkt::Nesting::called);
  CHECK(parsed->nesting("user_function") == fkt::Nesting::user);
  // Files of older versions do not say where these nest.
  CHECK(parsed->nesting("syscall") == fkt::Nesting::call);
  CHECK(parsed->nesting("vector") == fkt::Nesting::irq);
  CHECK(parsed->nesting("softirq") == fkt::Nesting::softirq);
}

TEST_CASE("a nesting and a use of a field that only a newer FKT knows are ignored") {
  const auto parsed = Catalogue::parse(
      "span\tbeam\tdiagonal\n"
      "event\t100\tbeam\t0\tbegin:beam\t0\tnr:u:0:0:24:colour\n");
  REQUIRE(parsed);
  CHECK(parsed->nesting("beam") == fkt::Nesting::called);
  CHECK(parsed->find(0x100)->fields.at(0).use == fkt::FieldUse::none);
}

TEST_CASE("pairs of events that are there, with ids of their own") {
  const std::string events = "event\t10\ta\t0\tbegin:x\t0\t\nevent\t11\tb\t0\tend:x\t0\t\n";
  const auto parsed = Catalogue::parse(events + "pair\t900\t256\t10\t11\tnumber+value<<22\n");
  REQUIRE(parsed);
  REQUIRE(parsed->pairs().size() == 1);
  CHECK(parsed->pairs()[0].end_arg(5, 3) == (5 | 3 << 22));
  CHECK(parsed->words_after(fkt_word(0, 0x9ff, 1)) == 0u);
  CHECK_FALSE(parsed->words_after(fkt_word(0, 0xa00, 1)));
  const char* bad = GENERATE("pair\t900\t256\t10\t12\tvalue\n",    // unknown end event
                             "pair\t7ff\t1\t10\t11\tvalue\n",      // the id of an event
                             "pair\t900\t0\t10\t11\tvalue\n",      // no ids
                             "pair\tf01\t256\t10\t11\tvalue\n",    // ids beyond the last
                             "pair\t900\t1\t10\t11\tsum\n",        // unknown word
                             "pair\t900\t1\t10\t11\tvalue<<24\n",  // beyond the argument
                             "pair\t900\t1\t10\t11\t\n");          // no end argument
  CHECK_FALSE(Catalogue::parse(events + bad));
  CHECK_FALSE(
      Catalogue::parse(events + "pair\t900\t2\t10\t11\tvalue\npair\t901\t2\t10\t11\tvalue\n"));
}

TEST_CASE("a catalogue that makes no sense is an error with its line") {
  const char* bad = GENERATE("event\txyz\ta\t0\tpoint\t0\t\n",           // id
                             "event\t1000\ta\t0\tpoint\t0\t\n",          // id too large
                             "event\t3\ta\t0\tpoint\t0\t\n",             // FKT_W_LOST
                             "event\t10\ta\t64\tpoint\t0\t\n",           // layer
                             "event\t10\ta\t0\tpoint:x\t0\t\n",          // role
                             "event\t10\ta\t0\tbegin\t0\t\n",            // begin without a kind
                             "event\t10\ta\t0\tpoint\t1024\t\n",         // words
                             "event\t10\ta\t0\tpoint\t0\ta:u:0:20:8\n",  // beyond the argument
                             "event\t10\ta\t0\tpoint\t0\ta:u:1:64:1\n",  // shift
                             "event\t800\ta\t0\tpoint\t0\t\n",           // a pair's id
                             "event\t10\ta\t0\tbegin:x\t1\ta:str:1:0:64:key\n",  // no number
                             "span\tx\t\n",                                      // no nesting
                             "span\t\tuser\n",                                   // no kind
                             "name\t\t1\tx\n",                                   // no table
                             "name\tx\tone\ttwo\n",                              // no number
                             "layer\t64\ta\tb\n");
  const auto parsed = Catalogue::parse(bad);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().message.starts_with("catalogue: line 1: "));
}

TEST_CASE("an id that stands twice in a file's catalogue is refused") {
  const auto parsed = Catalogue::parse(
      "event\t10\ta\t0\tpoint\t0\t\n"
      "event\t10\tb\t0\tpoint\t1\t\n");
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().message == "catalogue: line 2: event id 0x10 is taken");
}

TEST_CASE("words after an event word") {
  const Catalogue& catalogue = Catalogue::builtin();
  CHECK(catalogue.words_after(fkt_word(0, FKT_W_PID, 1)) == 0u);
  CHECK(catalogue.words_after(fkt_word(0, FKT_W_TIME, 1)) == 0u);
  CHECK(catalogue.words_after(fkt_word(0, FKT_W_LOST, 0)) == 2u);
  CHECK(catalogue.words_after(fkt_word(0, FKT_E_SYS_ENTRY_ARGS, 0)) == 7u);
  CHECK(catalogue.words_after(fkt_word(0, FKT_E_EXEC, 5 | FKT_VAR_CUT)) == 5u);
  CHECK_FALSE(catalogue.words_after(fkt_word(0, 0, 0)));
  CHECK_FALSE(catalogue.words_after(fkt_word(0, 0xfff, 0)));
}

TEST_CASE("field values: shifts, signs, short events") {
  Event e;
  e.arg = 0xfffffe;
  CHECK(EventType::value(field(FKT_E_SYS_EXIT, "ret"), e) == static_cast<std::uint64_t>(-2));
  e.arg = 0x7fffff;
  CHECK(EventType::value(field(FKT_E_SYS_EXIT, "ret"), e) == 0x7fffffu);
  e.arg = 3u << 22 | 17;
  CHECK(EventType::value(field(FKT_E_IRQ_EXIT, "irq"), e) == 17u);
  CHECK(EventType::value(field(FKT_E_IRQ_EXIT, "handled"), e) == 3u);
  const std::uint64_t words[] = {0x0000002a'0000002bULL};
  e.words = words;
  CHECK(EventType::value(field(FKT_E_FORK, "tgid"), e) == 43u);
  CHECK(EventType::value(field(FKT_E_FORK, "parent"), e) == 42u);
  e.words = {};
  CHECK_FALSE(EventType::value(field(FKT_E_FORK, "parent"), e));
}

TEST_CASE("text fields lose their padding, and end with the event") {
  std::uint64_t words[4] = {};
  std::memcpy(words + 1, "/bin/true", 9);
  Event e;
  e.words = words;
  CHECK(EventType::text(field(FKT_E_EXEC, "path"), e) == "/bin/true");
  std::memcpy(words, "kworker/0:1-even", 16);
  CHECK(EventType::text(field(FKT_E_RENAME, "comm"), e) == "kworker/0:1-even");
  e.words = std::span(words).first(1);
  CHECK(EventType::text(field(FKT_E_EXEC, "path"), e).empty());
}

namespace {

constexpr std::string_view kCallWithValues =
    "event\t502\tcall\t32\tpoint\tvar\tfunction:function:1:0:24:key "
    "duration:ticks:1:24:40:duration begin:x:2:0:64:begin\n"
    "name\tfunction\t7\tvfs_read\nname\tfunction\t9\tvfs_open\n"
    "values\tfunction\t9\t12\tpath:str:1:0:128\n"
    "values\tfunction\t6\t7\tcount:u:1:0:64 ret:s:2:0:64\n";

std::string join(std::span<const fkt::Field> fields) {
  std::string names;
  for (const fkt::Field& field : fields) names += field.name + ' ';
  return names;
}

}  // namespace

TEST_CASE("lines \"values\": further fields, by the event's key") {
  const fkt::Result<Catalogue> catalogue = Catalogue::parse(kCallWithValues);
  REQUIRE(catalogue);
  const EventType* const type = catalogue->find(0x502);
  REQUIRE(type != nullptr);
  const auto values_of = [&](std::uint64_t number) {
    const std::vector<std::uint64_t> words = {number | 1000ull << 24, 55, 4096, ~0ull};
    const Event event{.id = 0x502, .arg = 4, .words = words};
    return join(type->values_of(event));
  };
  CHECK(values_of(5).empty());
  CHECK(values_of(6) == "count ret ");
  CHECK(values_of(7) == "count ret ");
  CHECK(values_of(8).empty());
  CHECK(values_of(9) == "path ");
  CHECK(values_of(12) == "path ");
  CHECK(values_of(13).empty());
  const std::vector<std::uint64_t> words = {7 | 1000ull << 24, 55, 4096, ~0ull};
  const Event event{.id = 0x502, .arg = 4, .words = words};
  const std::span<const fkt::Field> fields = type->values_of(event);
  REQUIRE(fields.size() == 2);
  CHECK(EventType::value(fields[0], event) == 4096);
  CHECK(static_cast<std::int64_t>(*EventType::value(fields[1], event)) == -1);
  const Event too_short{.id = 0x502, .arg = 2, .words = std::span(words).first(2)};
  CHECK_FALSE(EventType::value(type->values_of(too_short)[0], too_short));
  CHECK(type->values_of({.id = 0x502}).empty());

  const fkt::Result<Catalogue> again = Catalogue::parse(catalogue->to_lines());
  REQUIRE(again);
  CHECK(again->to_lines() == catalogue->to_lines());
  CHECK(join(again->find(0x502)->values_of(event)) == "count ret ");
}

TEST_CASE("lines \"values\" that contradict each other or say nothing are damage") {
  const std::string good(kCallWithValues);
  for (const char* const line :
       {"values\tfunction\t12\t20\tx:u:1:0:64\n", "values\tfunction\t0\t6\tx:u:1:0:64\n",
        "values\tfunction\t30\t29\tx:u:1:0:64\n", "values\tfunction\t30\tx:u:1:0:64\n",
        "values\t\t30\t31\tx:u:1:0:64\n", "values\tfunction\t30\t31\tx:u:1:0:65\n"}) {
    CAPTURE(line);
    CHECK_FALSE(Catalogue::parse(good + line));
  }
  CHECK(Catalogue::parse(good + "values\tfunction\t13\t20\tx:u:1:0:64\n"));
}

TEST_CASE("lines \"in\": layers, by the event's key") {
  std::string lines(kCallWithValues);
  lines += "in\tfunction\t7\t8\t6\nin\tfunction\t3\t3\t11\n";
  const fkt::Result<Catalogue> catalogue = Catalogue::parse(lines);
  REQUIRE(catalogue);
  const EventType* const type = catalogue->find(0x502);
  REQUIRE(type != nullptr);
  const auto layer_of = [&](std::uint64_t number) {
    const std::vector<std::uint64_t> words = {number | 1000ull << 24, 55};
    return type->layer_of({.id = 0x502, .arg = 2, .words = words});
  };
  CHECK(layer_of(7) == 6);
  CHECK(layer_of(8) == 6);
  CHECK(layer_of(3) == 11);
  CHECK(layer_of(6) == type->layer);
  CHECK(layer_of(9) == type->layer);
  CHECK(type->layer_of({.id = 0x502}) == type->layer);
  const fkt::Result<Catalogue> again = Catalogue::parse(catalogue->to_lines());
  REQUIRE(again);
  CHECK(again->to_lines() == catalogue->to_lines());
  for (const char* const line : {"in\tfunction\t7\t6\t6\n", "in\tfunction\t7\t8\t64\n",
                                 "in\tfunction\t7\t8\n", "in\t\t7\t8\t6\n"}) {
    CAPTURE(line);
    CHECK_FALSE(Catalogue::parse(lines + line));
  }
}

TEST_CASE("addresses and ports are as in a packet; devices have names") {
  const fkt::Result<Catalogue> catalogue = Catalogue::parse(
      "event\t300\tsent\t0\tpoint\t2\taddress:ip4:1:0:32 port:port:1:32:16 dev:dev:2:0:64\n"
      "name\tdev\t8388609\tsda1\n");
  REQUIRE(catalogue);
  const EventType* const type = catalogue->find(0x300);
  REQUIRE(type != nullptr);
  const std::vector<std::uint64_t> words = {0x5000'0202000aull, 8 << 20 | 1};
  const Event event{.id = 0x300, .words = words};
  CHECK(EventType::value(type->fields[0], event) == 0x0a000202);
  CHECK(EventType::value(type->fields[1], event) == 80);
  CHECK(catalogue->name(type->fields[2], *EventType::value(type->fields[2], event)) == "sda1");
}

TEST_CASE("lines \"async\": ends of asynchronous spans, by the event's key") {
  std::string lines(kCallWithValues);
  lines +=
      "async\tfunction\t7\t8\tbegin\trequest\tcount\t\nasync\tfunction\t3\t3\tend\twait\ta\tb\n";
  const fkt::Result<Catalogue> catalogue = Catalogue::parse(lines);
  REQUIRE(catalogue);
  const EventType* const type = catalogue->find(0x502);
  REQUIRE(type != nullptr);
  const auto of = [&](std::uint64_t number) {
    const std::vector<std::uint64_t> words = {number | 1000ull << 24, 55};
    return type->async_of({.id = 0x502, .arg = 2, .words = words});
  };
  REQUIRE(of(8) != nullptr);
  CHECK(of(8)->role == fkt::Role::begin);
  CHECK(of(8)->kind == "request");
  CHECK(of(8)->match == "count");
  CHECK(of(8)->lane.empty());
  REQUIRE(of(3) != nullptr);
  CHECK(of(3)->role == fkt::Role::end);
  CHECK(of(3)->lane == "b");
  CHECK(of(6) == nullptr);
  CHECK(of(9) == nullptr);
  CHECK(type->async_of({.id = 0x502}) == nullptr);
  const fkt::Result<Catalogue> again = Catalogue::parse(catalogue->to_lines());
  REQUIRE(again);
  CHECK(again->to_lines() == catalogue->to_lines());
  for (const char* const line :
       {"async\tfunction\t7\t6\tbegin\tx\ty\t\n", "async\tfunction\t7\t8\tpoint\tx\ty\t\n",
        "async\tfunction\t7\t8\tend\t\ty\t\n", "async\tfunction\t7\t8\tend\tx\n",
        "async\t\t7\t8\tend\tx\ty\t\n"}) {
    CAPTURE(line);
    CHECK_FALSE(Catalogue::parse(lines + line));
  }
}

TEST_CASE("flags are printed as the kernel prints them") {
  const fkt::Result<Catalogue> catalogue = Catalogue::parse(
      Catalogue::builtin().to_lines() +
      "flag\tstate\t1\tS\nflag\tstate\t2\tD\nflag\tstate\t0\tR\nflag\tstate\t256\t+\n"
      "flag\tgfp\t1\tHIGH\nflag\tgfp\t2\tWAIT\nflag\tgfp\t0\tnone\n");
  REQUIRE(catalogue);
  const auto text = [&](const char* table, std::uint64_t value) {
    fkt::Field one;
    one.type = fkt::FieldType::named;
    one.names = table;
    return catalogue->text(one, value);
  };
  CHECK(text("state", 0) == "R");
  CHECK(text("state", 256) == "R+");
  CHECK(text("state", 257) == "S+");
  CHECK(text("state", 3) == "S|D");
  CHECK(text("gfp", 0) == "none");
  CHECK(text("gfp", 3) == "HIGH|WAIT");
  CHECK(text("gfp", 4) == "0x4");
}

TEST_CASE("a catalogue that asks for very much is damage") {
  std::string flags = Catalogue::builtin().to_lines();
  for (int i = 0; i < 1024; i++) flags += "flag\tmany\t" + std::to_string(i) + "\tx\n";
  CHECK(Catalogue::parse(flags));
  CHECK_FALSE(Catalogue::parse(flags + "flag\tmany\t1024\tx\n"));

  // Each event with a key of the table gets the fields.
  std::string lines = "values\tT\t0\t0\ta:u:1:0:64";
  for (int i = 1; i < 1000; i++) lines += " a:u:1:0:64";
  lines += "\n";
  const auto add_events = [&](unsigned from, unsigned to) {
    for (unsigned id = from; id < to; id++) {
      lines += fmt::format("event\t{:x}\te{}\t0\tpoint\tvar\tk:T:1:0:24:key\n", id, id);
    }
  };
  add_events(0x20, 0x30);
  CHECK(Catalogue::parse(lines));
  Catalogue catalogue = *Catalogue::parse(lines);
  add_events(0x30, 0x7c0);
  CHECK(Catalogue::parse(lines));
  std::string twice = lines;
  twice += "values" + lines.substr(6, lines.find('\n') - 5).replace(3, 4, "1\t1\t");
  CHECK_FALSE(Catalogue::parse(twice));
  CHECK(catalogue.define(twice.substr(lines.size())) == 0);
  // Definitions that come later say so with the number of their last line.
  Catalogue full = *Catalogue::parse(lines);
  CHECK(full.define(twice.substr(lines.size())) == 1);
}
