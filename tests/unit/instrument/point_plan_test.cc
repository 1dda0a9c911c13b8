// SPDX-License-Identifier: GPL-2.0-only
// Tests which tracepoints an instrument takes, and runs the programs that are made for them on
// hits.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include <fkt/point_hit.h>
#include <fkt/program_run.h>

#include "lib/instrument/point_plan.h"
#include "tests/unit/instrument/made_btf.h"
#include "tests/unit/instrument/raw_memory.h"
#include "tests/unit/texts.h"

using namespace fkt;
using namespace fkt::test;

namespace {

const std::vector<Symbol> kPointSymbols = {
    {0x1000, 'T', "__traceiter_file_read", ""},
    {0x1100, 'T', "__traceiter_file_moved", ""},
    {0x1200, 'T', "__traceiter_file_gone", "bare"},
};
const std::vector<std::string> kSystems = {"block", "files"};
const std::vector<std::string> kEvents = {"file_read", "file_moved", "file_made_up", "file_gone"};

// The record of file_read, which has a field that is called as an argument.
Result<PointRecord> record_of(const std::string& event) {
  if (event != "file_read") return Error{ErrorCode::io, "there is none of " + event};
  Result<EventLayout> layout = EventLayout::parse(
      "name: file_read\nformat:\n"
      "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
      "\tfield:short state;\toffset:12;\tsize:2;\tsigned:1;\n"
      "\tfield:char kind[6];\toffset:14;\tsize:6;\tsigned:0;\n"
      "\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n"
      "\tfield:__rel_loc char[] label;\toffset:24;\tsize:4;\tsigned:0;\n"
      "\tfield:__u8 address[4];\toffset:28;\tsize:4;\tsigned:0;\n"
      "\tfield:unsigned int flags;\toffset:32;\tsize:4;\tsigned:0;\n"
      "\tfield:u16 words[2];\toffset:36;\tsize:4;\tsigned:0;\n"
      "\tfield:__data_loc u8[] data;\toffset:40;\tsize:4;\tsigned:0;\n"
      "print fmt: \"%s %s\", __print_symbolic(REC->state, {-1, \"BROKEN\"}, {2, \"OPEN\"}), "
      "__print_flags(REC->flags, \"|\", {1, \"SYNC\"}, {4, \"META\"})\n");
  REQUIRE(layout);
  return PointRecord{std::move(*layout), 44};
}

// A record of 100 numbers.
Result<PointRecord> wide_record(const std::string&) {
  std::string format = "name: file_read\nformat:\n";
  for (int i = 0; i < 100; i++) {
    format += "\tfield:u8 f" + std::to_string(i) + ";\toffset:" + std::to_string(8 + i) +
              ";\tsize:1;\tsigned:0;\n";
  }
  Result<EventLayout> layout = EventLayout::parse(format);
  REQUIRE(layout);
  return PointRecord{std::move(*layout), 108};
}

struct Records {
  bool are_there = false, arguments_first = false, are_wide = false;
};

Result<PointPlan> points_planned(const std::string& text, Records records = {}) {
  static const Btf btf = MadeBtf().read();
  const Result<Instrument> instrument = Instrument::parse(text);
  REQUIRE(instrument);
  const bool is_known = instrument->place.group == "files";
  const auto types = [](std::string_view module) { return module == "bare" ? nullptr : &btf; };
  const std::vector<std::string> none;
  static const FunctionIndex functions(kPointSymbols);
  PointPlanSources sources{.systems = kSystems,
                           .events = is_known ? kEvents : none,
                           .functions = []() -> const FunctionIndex& { return functions; },
                           .types = types};
  if (records.are_there) sources.record = records.are_wide ? wide_record : record_of;
  sources.arguments_first = records.arguments_first;
  return plan_points(*instrument, sources);
}

PointPlan plan_of(const std::string& text, Records records = {}) {
  Result<PointPlan> made = points_planned(text, records);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  return std::move(*made);
}

std::string point_refusal(const std::string& text, Records records = {}) {
  const Result<PointPlan> made = points_planned(text, records);
  return made ? "made" : made.error().message;
}

__u64 no_point_context(const __u64*, __u32, __u32) {
  return 0;
}

// What a hit of file_read emits; what is above an argument's own bits is arbitrary.
struct Hit {
  fkt_run says;
  std::vector<__u64> words;
};
Hit hit(const std::string& text, const File& file, std::uint32_t count, std::int32_t state) {
  const PointPlan made = plan_of(text);
  const fkt_program& program = made.taken.at(0).program.block.program();
  const __u64 arguments[] = {reinterpret_cast<std::uint64_t>(&file), 0xabcd00000000U | __u64{count},
                             0x7777777700000000U | __u64{static_cast<std::uint32_t>(state)}};
  std::vector<__u64> words(program.words);
  fkt_emitted out = {words.data(), 0, 0};
  const fkt_run says = fkt_program_run(&program, arguments, &out, read_raw, no_point_context);
  return {says, words};
}

constexpr Records kWithRecords{true, false};

// The record of a hit, and what a program makes of it.
Hit hit_record(const std::string& text) {
  const PointPlan made = plan_of(text, kWithRecords);
  REQUIRE(made.taken.at(0).record_bytes == 44);
  const fkt_program& program = made.taken[0].program.block.program();
  alignas(8) unsigned char record[64] = {};
  const auto put = [&](std::size_t at, const auto& value) {
    std::memcpy(record + at, &value, sizeof value);
  };
  put(8, std::uint32_t{8 << 20 | 3});
  put(12, std::int16_t{-1});
  put(14, "abcdef");                     // without a zero: the next field follows
  put(20, std::uint32_t{5 << 16 | 44});  // at 44
  put(24, std::uint32_t{4 << 16 | 22});  // at 28 + 22
  put(28, std::uint32_t{0x0100007f});
  put(32, std::uint32_t{5 | 64});
  put(36, std::uint32_t{7 | 9 << 16});
  put(44, "disk\0\0two");
  std::vector<__u64> words(program.words);
  fkt_emitted out = {words.data(), 0, 0};
  __u64 arguments[FKT_POINT_WORDS] = {0, 17, 0xffffffff};
  arguments[FKT_POINT_RECORD_WORD] = reinterpret_cast<std::uint64_t>(record);
  const fkt_run says = fkt_program_run(&program, arguments, &out, read_raw, no_point_context);
  return {says, words};
}

bool keeps(const std::string& condition) {
  return hit_record("tp:files:file_read if " + condition).says == FKT_RUN_KEEP;
}

std::string text_at(const Hit& made, std::size_t word) {
  return reinterpret_cast<const char*>(&made.words.at(word));
}

std::uint64_t number_at(const Hit& hit, const RecordedField& field) {
  const std::uint64_t word = hit.words.at(field.first_word) >> field.shift;
  return field.bits == 64 ? word : word & ((std::uint64_t{1} << field.bits) - 1);
}

}  // namespace

TEST_CASE("tracepoints are taken by name, and left out with a reason") {
  const PointPlan all = plan_of("tp:files:*");
  REQUIRE(all.taken.size() == 1);
  CHECK(all.taken[0].name == "file_read");
  CHECK(all.taken[0].arguments == 3);
  // Without a list: what is a number or a text.
  REQUIRE(all.taken[0].program.fields.size() == 2);
  CHECK(all.taken[0].program.fields[0].name == "count");
  CHECK(all.taken[0].program.fields[1].name == "state");
  REQUIRE(all.left_out.size() == 3);
  CHECK(all.left_out[0].name == "file_gone");
  CHECK(has(all.left_out[0].reason, "module bare are not described"));
  CHECK(has(all.left_out[1].reason, "the kernel makes this event of others"));
  CHECK(has(all.left_out[2].reason, "it passes struct big by value"));

  CHECK(has(point_refusal("tp:blok:*"), "no tracepoints of \"blok\"; did you mean \"block\"?"));
  CHECK(has(point_refusal("tp:files:file_raed"), "did you mean \"file_read\"?"));
  CHECK(has(point_refusal("tp:files:file_moved"), "by value"));
  CHECK(has(point_refusal("tp:files:file_read(size)"),
            "file_read has no argument \"size\"; it has file"));
  CHECK(has(point_refusal("tp:files:file_read ret"), "no return value"));
  CHECK(has(point_refusal("tp:files:file_read if duration > 5us"), "no duration"));
  CHECK(has(point_refusal("tp:files:file_read if count > 1 || ret == 0"), "no return value"));
}

TEST_CASE("the list of functions is asked for where the kernel's own types lack a tracepoint") {
  static const Btf btf = MadeBtf().read();
  static const FunctionIndex functions(kPointSymbols);
  unsigned asked = 0;
  const PointPlanSources sources{.systems = kSystems,
                                 .events = kEvents,
                                 .functions = [&]() -> const FunctionIndex& {
                                   asked++;
                                   return functions;
                                 },
                                 .types = [](std::string_view) { return &btf; }};
  REQUIRE(plan_points(*Instrument::parse("tp:files:file_read"), sources));
  CHECK(asked == 0);
  CHECK_FALSE(plan_points(*Instrument::parse("tp:files:file_made_up"), sources));
  CHECK(asked == 1);
}

TEST_CASE("a hit's values are fetched, and conditions are asked of them") {
  Entry entry{nullptr, {1, 5, reinterpret_cast<const unsigned char*>("hosts")}, "hosts"};
  File file{};
  file.f_path.dentry = &entry;
  file.cookie = 99;
  const std::string path =
      "tp:files:file_read(file.f_path.dentry.d_name.name, count, state, file.cookie)";
  const Hit made = hit(path, file, 17, -1);
  REQUIRE(made.says == FKT_RUN_KEEP);
  REQUIRE(made.words.size() == 7);
  CHECK(std::string(reinterpret_cast<const char*>(made.words.data())) == "hosts");
  CHECK(made.words[4] == 17);
  CHECK(static_cast<std::int64_t>(made.words[5]) == -1);
  CHECK(made.words[6] == 99);
  CHECK(hit("tp:files:file_read if count > 16 && state == FILE_BROKEN", file, 17, -1).says ==
        FKT_RUN_KEEP);
  CHECK(hit("tp:files:file_read if count > 17", file, 17, -1).says == FKT_RUN_DROP);
  CHECK(hit("tp:files:file_read if file.f_path.dentry.d_name.name == \"host\"", file, 17, 0).says ==
        FKT_RUN_DROP);
  CHECK(hit("tp:files:file_read if file.f_path.dentry.d_name.name ~ \"h*s\"", file, 17, 0).says ==
        FKT_RUN_KEEP);
  file.f_path.dentry = nullptr;
  CHECK(hit(path, file, 17, 0).says == FKT_RUN_FAULT);
}

TEST_CASE("an instrument without values records the fields of a tracepoint's own record") {
  const PointPlan made = plan_of("tp:files:file_read", kWithRecords);
  const std::vector<RecordedField>& fields = made.taken[0].program.fields;
  REQUIRE(fields.size() == 9);
  using Kind = RecordedField::Kind;
  CHECK((fields[0].name == "dev" && fields[0].kind == Kind::device));
  CHECK((fields[1].name == "state" && fields[1].kind == Kind::signed_number));
  CHECK(fields[1].names.find("OPEN") == 2);
  CHECK((fields[2].name == "kind" && fields[2].kind == Kind::text && fields[2].size == 6));
  CHECK((fields[3].name == "name" && fields[3].kind == Kind::text && fields[3].words == 4));
  CHECK(fields[4].name == "label");
  CHECK((fields[5].name == "address" && fields[5].kind == Kind::bytes && fields[5].size == 4));
  CHECK((fields[6].name == "flags" && fields[6].names.flags.size() == 2));
  CHECK((fields[7].name == "words[0]" && fields[8].name == "words[1]"));
  CHECK(made.by_arguments.empty());

  const Hit hit = hit_record("tp:files:file_read");
  REQUIRE(hit.says == FKT_RUN_KEEP);
  CHECK(number_at(hit, fields[0]) == (8 << 20 | 3));
  CHECK(number_at(hit, fields[1]) == ~__u64{0});
  CHECK(text_at(hit, fields[2].first_word) == "abcdef");
  CHECK(text_at(hit, fields[3].first_word) == "disk");
  CHECK(text_at(hit, fields[4].first_word) == "two");
  CHECK(hit.words[fields[5].first_word] == 0x0100007f);
  CHECK(number_at(hit, fields[6]) == (5 | 64));
  CHECK(number_at(hit, fields[7]) == 7);
  CHECK(number_at(hit, fields[8]) == 9);
}

TEST_CASE("numbers that share a word of the record share one of the event") {
  const auto words = [](const std::string& values) {
    const PointPlan made = plan_of("tp:files:file_read(" + values + ')', kWithRecords);
    std::string places;
    for (const RecordedField& field : made.taken.at(0).program.fields) {
      places += std::to_string(field.first_word) + ':' + std::to_string(field.shift) + ':' +
                std::to_string(field.bits) + ' ';
    }
    return places + std::to_string(made.taken[0].program.block.program().words);
  };
  CHECK(words("flags, words[0], words[1]") == "0:0:32 0:32:16 0:48:16 1");
  CHECK(words("words[1], dev, flags") == "0:48:16 1:0:64 0:0:32 2");
  CHECK(words("flags") == "0:0:64 1");
  // A sign that the names' readers could not see, and what is shown in a way of its own, but
  // unsigned.
  CHECK(words("dev, state") == "0:0:64 1:0:64 2");
  CHECK(words("flags:x, words[0]") == "0:0:32 0:32:16 1");
  // Several words in a row are one instruction.
  const PointPlan made = plan_of("tp:files:file_read(address, flags, words[0])", kWithRecords);
  CHECK(made.taken.at(0).program.block.program().insns == 2);
}

TEST_CASE("fields for which an event has no room are told") {
  const PointPlan made = plan_of("tp:files:file_read", {.are_there = true, .are_wide = true});
  CHECK(made.taken.at(0).program.fields.size() == FKT_PROGRAM_WORDS);
  REQUIRE(made.left_out.size() == 100 - FKT_PROGRAM_WORDS);
  CHECK(made.left_out.front().name == "file_read.f" + std::to_string(FKT_PROGRAM_WORDS));
  CHECK(has(made.left_out.front().reason, "no room"));
  CHECK(made.left_out.back().name == "file_read.f99");
}

TEST_CASE("conditions ask for fields by name, and know the names of their values") {
  CHECK(keeps("state == BROKEN"));
  CHECK_FALSE(keeps("state == OPEN"));
  CHECK(keeps("state < 0"));
  CHECK(keeps("flags == 69 && words[1] == 9"));
  CHECK(keeps("name == \"disk\" && label ~ \"t*\""));
  CHECK_FALSE(keeps("name == \"disc\""));
  CHECK(keeps("count == 17"));  // an argument: no field is called so
  CHECK(has(point_refusal("tp:files:file_read if state == BROKE", kWithRecords), "BROKEN"));
  CHECK(has(point_refusal("tp:files:file_read if address == 5", kWithRecords),
            "address is an array: say which element"));
  CHECK(has(point_refusal("tp:files:file_read(data)", kWithRecords),
            "another length in each record"));
  CHECK(has(point_refusal("tp:files:file_read(flag)", kWithRecords),
            "has no field or argument \"flag\"; it has dev, state"));
  CHECK(has(point_refusal("tp:files:file_read do histogram(name)", kWithRecords), "is a text"));
}

TEST_CASE("what is called as a field and as an argument is the field's, but in lists of layers") {
  const auto used = [](const std::string& text, Records records) {
    return plan_of(text, records).taken[0].record_bytes != 0;
  };
  CHECK(used("tp:files:file_read(state)", kWithRecords));
  CHECK_FALSE(used("tp:files:file_read(count)", kWithRecords));
  CHECK_FALSE(used("tp:files:file_read do count", kWithRecords));
  CHECK(used("tp:files:file_read if state == OPEN do count", kWithRecords));
  CHECK(used("tp:files:file_read do histogram(flags, by state)", kWithRecords));
  constexpr Records kOfLayers{true, true};
  CHECK_FALSE(used("tp:files:file_read(state)", kOfLayers));
  CHECK_FALSE(used("tp:files:file_read", kOfLayers));
  CHECK(used("tp:files:file_read(state, flags)", kOfLayers));
}

TEST_CASE("a tracepoint without a record is recorded by its arguments, with the reason") {
  const PointPlan all = plan_of("tp:files:*", kWithRecords);
  CHECK(all.by_arguments.empty());
  CHECK(all.left_out.size() == 3);
  const std::string none = point_refusal("tp:files:file_moved(size)", kWithRecords);
  CHECK(has(none, "by value"));
  CHECK(has(none, "its own fields: there is none of file_moved"));
}
