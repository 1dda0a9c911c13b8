// SPDX-License-Identifier: GPL-2.0-only
// Tests parsing descriptions of tracepoints' records (tracefs): fields, the names of their values,
// and wrong descriptions.
#include <catch2/catch.hpp>
#include <string>

#include "lib/instrument/event_layout.h"
#include "lib/instrument/point_record.h"
#include "lib/instrument/print_format.h"

using namespace fkt;

namespace {

using Form = EventField::Form;
using Shown = EventField::Shown;

const std::string kCommon =
    "name: thing\nID: 999\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

std::string field_line(const std::string& declaration, unsigned offset, unsigned size,
                       bool is_signed = false) {
  return "\tfield:" + declaration + ";\toffset:" + std::to_string(offset) +
         ";\tsize:" + std::to_string(size) + ";\tsigned:" + (is_signed ? "1" : "0") + ";\n";
}

EventLayout parsed(const std::string& text) {
  Result<EventLayout> layout = EventLayout::parse(text);
  INFO((layout ? "" : layout.error().message));
  REQUIRE(layout);
  return std::move(*layout);
}

// The only field of an event that is printed so.
EventField printed(const std::string& print, const std::string& declaration = "unsigned long flags",
                   unsigned size = 8) {
  EventLayout layout =
      parsed(kCommon + field_line(declaration, 8, size) + "\nprint fmt: " + print + "\n");
  REQUIRE(layout.fields.size() == 1);
  return layout.fields[0];
}

std::string layout_refusal(const std::string& text) {
  const Result<EventLayout> layout = EventLayout::parse(text);
  return layout ? "parsed" : layout.error().message;
}

Result<Fetch> fetched(const EventField& field, const std::string& path) {
  const Result<FieldPath> parsed = FieldPath::parse(path, 1);
  REQUIRE(parsed);
  return fetch_field(field, *parsed);
}

}  // namespace

TEST_CASE("a record's fields are those of its description") {
  const EventLayout layout =
      parsed(kCommon + field_line("dev_t dev", 8, 4) + field_line("sector_t sector", 16, 8) +
             field_line("char comm[16]", 24, 16) + field_line("__data_loc char[] cmd", 40, 4) +
             field_line("__rel_loc char[] name", 44, 4) + field_line("__u8 saddr[4]", 48, 4) +
             field_line("int state", 52, 4, true) + field_line("void * skaddr", 56, 8) +
             field_line("const char *what", 64, 8) + field_line("__data_loc __u8[] data", 72, 4) +
             field_line("struct sockaddr_in6 from", 76, 28) + field_line("u16 words[3]", 104, 6) +
             "\nprint fmt: \"%d,%d %llu %s\", ((unsigned int) ((REC->dev) >> 20)), "
             "((unsigned int) ((REC->dev) & ((1U << 20) - 1))), REC->sector, __get_str(cmd)\n");
  CHECK(layout.name == "thing");
  REQUIRE(layout.fields.size() == 12);
  CHECK(layout.fields[0].name == "dev");
  CHECK(layout.fields[0].shown == Shown::device);
  CHECK(layout.find("sector")->form == Form::number);
  CHECK(layout.find("sector")->offset == 16);
  CHECK(layout.find("comm")->form == Form::text);
  CHECK(layout.find("cmd")->form == Form::text_elsewhere);
  CHECK_FALSE(layout.find("cmd")->is_relative);
  CHECK(layout.find("name")->is_relative);
  CHECK(layout.find("saddr")->form == Form::array);
  CHECK(layout.find("saddr")->element == 1);
  CHECK(layout.find("state")->is_signed);
  CHECK(layout.find("skaddr")->shown == Shown::address);
  CHECK(layout.find("what")->shown == Shown::address);
  CHECK(layout.find("data")->form == Form::other);
  CHECK(layout.find("from")->form == Form::array);
  CHECK(layout.find("words")->element == 2);
  CHECK(layout.find("common_pid") == nullptr);
  CHECK(layout.find("dev")->names.empty());
}

TEST_CASE("numbers have the names that they are printed with") {
  const EventField symbols = printed(
      "\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, "
      "{ 1, \"TIMER\" }, { -1, \"NONE\" }, { 1 << 4, \"a, \" \"b\" }, { EN_UNKNOWN, \"X\" })",
      "unsigned int vec", 4);
  REQUIRE(symbols.names.values.size() == 4);
  CHECK(symbols.names.find("TIMER") == 1);
  CHECK(symbols.names.find("NONE") == ~std::uint64_t{0});
  CHECK(symbols.names.find("a, b") == 16);
  CHECK_FALSE(symbols.names.find("X"));

  const EventField flags = printed(
      "\"flags=%s\", (REC->flags) ? __print_flags(REC->flags, \"|\", "
      "{(unsigned long)((( gfp_t)0x400u)|(( gfp_t)0x800u)), \"GFP_BOTH\"}, "
      "{(unsigned long)(( gfp_t)0x400u), \"GFP_ONE\"}) : \"none\"");
  REQUIRE(flags.names.flags.size() == 3);
  CHECK(flags.names.flags[0] == ValueNames::Name(0xc00, "GFP_BOTH"));
  CHECK(flags.names.flags[1] == ValueNames::Name(0x400, "GFP_ONE"));
  CHECK(flags.names.flags[2] == ValueNames::Name(0, "none"));

  // As sched_switch has it: the field with a mask, and one flag behind them.
  const EventField state = printed(
      "\"%s%s\", (REC->state & ((((0x00000001 | 0x00000002) + 1) << 1) - 1)) ? "
      "__print_flags(REC->state & ((((0x00000001 | 0x00000002) + 1) << 1) - 1), \"|\", "
      "{ 0x1, \"S\" }, { 0x2, \"D\" }) : \"R\", REC->state & (((0x3 + 1) << 1)) ? \"+\" : \"\"",
      "long state");
  REQUIRE(state.names.flags.size() == 4);
  CHECK(state.names.find("R") == 0);
  CHECK(state.names.find("D") == 2);
  CHECK(state.names.find("+") == 8);

  CHECK(printed("\"%p\", REC->flags").shown == Shown::address);
  CHECK(printed("\"%#lx\", REC->flags").shown == Shown::hex);
  CHECK(printed("\"%*s %llx\", 5, \"x\", (unsigned long long)REC->flags").shown == Shown::hex);
  CHECK(printed("\"%lu\", REC->flags").shown == Shown::decimal);
  CHECK(printed("\"%lx\", REC->flags + 1").shown == Shown::decimal);
  // As hrtimer_start has it.
  const Result<EventLayout> mode = EventLayout::parse(
      kCommon + field_line("enum hrtimer_mode mode", 8, 4) +
          "\nprint fmt: \"%s\", __print_symbolic(REC->mode, { MODE_ABS, \"ABS\" }, { MODE_X, \"X\" "
          "})\n",
      [](const std::string& enumeration, std::string_view name) -> std::optional<std::int64_t> {
        if (enumeration == "hrtimer_mode" && name == "MODE_ABS") return 8;
        return std::nullopt;
      });
  REQUIRE(mode);
  CHECK(mode->fields[0].names.values == std::vector<ValueNames::Name>{{8, "ABS"}});

  // As mm_page_alloc has it.
  CHECK(printed("\"pfn=0x%lx\", REC->flags != -1UL ? REC->flags : 0").shown == Shown::hex);
  CHECK(printed("\"%lx\", REC->flags != 0 ? 1 : 0").shown == Shown::decimal);
}

TEST_CASE("constants are what C makes of them") {
  CHECK(constant_value("1 << 4 | 2") == 18);
  CHECK(constant_value("(1U << 20) - 1") == 0xfffff);
  CHECK(constant_value("~0x0fUL & 0xff") == 0xf0);
  CHECK(constant_value("-1") == ~std::uint64_t{0});
  CHECK(constant_value("( gfp_t)0x10u") == 16);
  CHECK(constant_value("'R'") == 'R');
  CHECK(constant_value("010") == 8);
  CHECK(constant_value("2 + 3 * 4") == 14);
  for (const char* const text :
       {"", "x", "1 +", "(1", "1)", "1 ? 2 : 3", "0x", "99999999999999999999", "sizeof(int)",
        "1 / 0", "\"1\"", "'", "- ", "9z"}) {
    INFO(text);
    CHECK_FALSE(constant_value(text));
  }
  CHECK_FALSE(constant_value(std::string(100000, '(') + "1" + std::string(100000, ')')));
  CHECK_FALSE(constant_value(std::string(100000, '-') + "1"));
}

TEST_CASE("what is no description of a record is refused in one line") {
  CHECK(layout_refusal("") == "not the format of an event");
  CHECK(layout_refusal("name: thing\n") == "not the format of an event");
  CHECK(layout_refusal(kCommon) == "parsed");
  const std::string before = "format of thing: not a field: field:";
  const auto starts = [&](const std::string& line) {
    INFO(line);
    CHECK(layout_refusal(kCommon + line).starts_with(before));
  };
  starts("\tfield:int;\toffset:8;\tsize:4;\tsigned:1;\n");
  starts("\tfield:;\toffset:8;\tsize:4;\tsigned:1;\n");
  starts("\tfield:int a\n");
  starts("\tfield:int a;\toffset:8;\n");
  starts("\tfield:int a;\toffset:x;\tsize:4;\tsigned:1;\n");
  starts("\tfield:int a;\toffset:-8;\tsize:4;\tsigned:1;\n");
  starts("\tfield:int a;\toffset:99999999;\tsize:4;\tsigned:1;\n");
  starts("\tfield:int a;\toffset:8;\tsize:0;\tsigned:1;\n");
  starts("\tfield:int a\tb;\toffset:8;\tsize:4;\tsigned:1;\n");
  starts("\tfield:int a:b;\toffset:8;\tsize:4;\tsigned:1;\n");
  starts("\tfield:__data_loc char[] a;\toffset:8;\tsize:8;\tsigned:0;\n");

  // What of the printing is not understood changes nothing.
  for (const std::string print :
       {"", "\"", "\"%s", "\"%s\"", "\"%s\",", "\"%s\", __print_symbolic(",
        "\"%s\", __print_flags(REC->flags",
        "\"%s\", __print_symbolic(REC->flags, {1, \"a\\tb\"}, {2, \"\"}, {3}, {, \"c\"}, {4, "
        "\"d)\")",
        "\"%s\", __print_symbolic(REC->other, {1, \"a\"})", "\"%p\", REC->flags[", "REC->flags"}) {
    INFO(print);
    const EventField field = printed(print);
    CHECK(field.names.empty());
    CHECK(field.shown == Shown::decimal);
  }
  CHECK(printed("\"%s\", " + std::string(100000, '(')).names.empty());
  CHECK(printed("\"%s\", " + std::string(30000, '(') + "REC->flags" + std::string(30000, ')'))
            .names.empty());
}

TEST_CASE("fields are fetched where they are") {
  const EventLayout layout =
      parsed(kCommon + field_line("short low", 8, 2, true) + field_line("u16 words[3]", 10, 6) +
             field_line("__data_loc __u8[] data", 16, 4) + field_line("u64 odd[1]", 20, 4));
  const Result<Fetch> low = fetched(*layout.find("low"), "low");
  REQUIRE(low);
  CHECK(low->from == FKT_FROM_RECORD);
  CHECK(low->offset == 8);
  CHECK(low->load == 2);
  CHECK(low->is_signed);
  const Result<Fetch> last = fetched(*layout.find("words"), "words[2]");
  REQUIRE(last);
  CHECK(last->offset == 14);
  CHECK(fetched(*layout.find("words"), "words[3]").error().message.find("elements 0 to 2") !=
        std::string::npos);
  CHECK_FALSE(fetched(*layout.find("words"), "words[1].x"));
  CHECK_FALSE(fetched(*layout.find("data"), "data"));
  CHECK(fetched(*layout.find("odd"), "odd[3]"));  // of bytes: no u64 fits
  CHECK_FALSE(fetched(*layout.find("odd"), "odd[4]"));
}

TEST_CASE("a record that the module makes otherwise is told") {
  const EventLayout layout =
      parsed(kCommon + field_line("int a", 8, 4, true) + field_line("u64 b", 16, 8));
  std::vector<fkt_record_field> made(2);
  made[0] = {"a", 8, 4, 1, 0};
  made[1] = {"b", 16, 8, 0, 0};
  CHECK(difference(layout, made).empty());
  made[1].offset = 12;
  CHECK(
      difference(layout, made) ==
      "in its format, field 2 is b (unsigned, 8 bytes at 16), in fkt_records b (unsigned, 8 bytes "
      "at 12)");
  made[1] = {"c", 16, 8, 0, 0};
  CHECK_FALSE(difference(layout, made).empty());
  made.pop_back();
  CHECK(difference(layout, made) == "its format has 2 fields, fkt_records 1");
}
