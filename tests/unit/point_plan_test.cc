// SPDX-License-Identifier: GPL-2.0-only
// Tests which tracepoints an instrument takes, and runs the programs that are made for them on
// hits.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include <fkt/program_run.h>

#include "lib/instrument/point_plan.h"
#include "tests/unit/made_btf.h"

using namespace fkt;
using namespace fkt::test;

namespace {

const std::vector<Symbol> kSymbols = {
    {0x1000, 'T', "__traceiter_file_read", ""},
    {0x1100, 'T', "__traceiter_file_moved", ""},
    {0x1200, 'T', "__traceiter_file_gone", "bare"},
};
const std::vector<std::string> kSystems = {"block", "files"};
const std::vector<std::string> kEvents = {"file_read", "file_moved", "file_made_up", "file_gone"};

Result<PointPlan> planned(const std::string& text) {
  static const Btf btf = MadeBtf().read();
  const Result<Instrument> instrument = Instrument::parse(text);
  REQUIRE(instrument);
  const bool is_known = instrument->place.group == "files";
  const auto types = [](std::string_view module) { return module == "bare" ? nullptr : &btf; };
  return plan_points(*instrument, {kSystems, is_known ? kEvents : std::vector<std::string>(),
                                   kSymbols, types, 1e9});
}

PointPlan plan(const std::string& text) {
  Result<PointPlan> made = planned(text);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  return std::move(*made);
}

std::string refusal(const std::string& text) {
  const Result<PointPlan> made = planned(text);
  return made ? "made" : made.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int read_memory(void* to, __u64 address, __u32 bytes) {
  if (address < 4096) return 1;
  std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return 0;
}

__u64 no_context(const __u64*, __u32, __u32) {
  return 0;
}

// What a hit of file_read emits; what is above an argument's own bits is arbitrary.
struct Outcome {
  fkt_run says;
  std::vector<__u64> words;
};
Outcome hit(const std::string& text, const File& file, std::uint32_t count, std::int32_t state) {
  const PointPlan made = plan(text);
  const fkt_program& program = made.taken.at(0).program.block.program();
  const __u64 arguments[] = {reinterpret_cast<std::uint64_t>(&file), 0xabcd00000000U | __u64{count},
                             0x7777777700000000U | __u64{static_cast<std::uint32_t>(state)}};
  std::vector<__u64> words(program.words);
  fkt_emitted out = {words.data(), 0, 0};
  const fkt_run says = fkt_program_run(&program, arguments, &out, read_memory, no_context);
  return {says, words};
}

}  // namespace

TEST_CASE("tracepoints are taken by name, and left out with a reason") {
  const PointPlan all = plan("tp:files:*");
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

  CHECK(has(refusal("tp:blok:*"), "no tracepoints of \"blok\"; did you mean \"block\"?"));
  CHECK(has(refusal("tp:files:file_raed"), "did you mean \"file_read\"?"));
  CHECK(has(refusal("tp:files:file_moved"), "by value"));
  CHECK(
      has(refusal("tp:files:file_read(size)"), "file_read has no argument \"size\"; it has file"));
  CHECK(has(refusal("tp:files:file_read ret"), "no return value"));
  CHECK(has(refusal("tp:files:file_read if duration > 5us"), "no duration"));
  CHECK(has(refusal("tp:files:file_read if count > 1 || ret == 0"), "no return value"));
}

TEST_CASE("a hit's values are fetched, and conditions are asked of them") {
  Entry entry{nullptr, {1, 5, reinterpret_cast<const unsigned char*>("hosts")}, "hosts"};
  File file{};
  file.f_path.dentry = &entry;
  file.cookie = 99;
  const std::string path =
      "tp:files:file_read(file.f_path.dentry.d_name.name, count, state, file.cookie)";
  const Outcome made = hit(path, file, 17, -1);
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
