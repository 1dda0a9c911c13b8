// SPDX-License-Identifier: GPL-2.0-only
// Tests descriptions of modules' probes: parsing them, which ones an instrument takes, and running
// the programs that are made for them on hits.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include <fkt/program_run.h>

#include "cli/fkt_record/instruments/module_file.h"
#include "lib/instrument/probe_plan.h"
#include "tests/unit/instrument/raw_memory.h"

using namespace fkt;

namespace {

const std::string kDone = "fkt1 instruments request_done sector=u64 error=s32 queue=str16";
const std::string kReset = "fkt1 32 MY_RESET code=u32 a1=s64";

std::vector<ModuleProbe> some_probes() {
  return parse_probe_list("my_driver\t" + kReset + "\nmy_driver\t" + kDone + "\nmy_driver\t" +
                          kDone + "\nother\tfkt1 instruments reset\nother\t\n");
}

Result<PointPlan> planned(const std::string& text) {
  const Result<Instrument> instrument = Instrument::parse(text);
  INFO((instrument ? "" : instrument.error().message));
  REQUIRE(instrument);
  return plan_probes(*instrument, some_probes(), 1e9);
}

std::string probe_refusal(const std::string& text) {
  const Result<PointPlan> made = planned(text);
  return made ? "made" : made.error().message;
}

std::string wrong(const std::string& description) {
  return parse_probe("m", description).wrong;
}

__u64 no_context(const __u64*, __u32, __u32) {
  return 0;
}

}  // namespace

TEST_CASE("probes' descriptions are read") {
  const std::vector<ModuleProbe> probes = some_probes();
  REQUIRE(probes.size() == 4);
  CHECK(probes[0].name == "MY_RESET");
  CHECK(probes[0].layer == FKT_L_INSTRUMENTS);
  CHECK(probes[1].name == "request_done");
  REQUIRE(probes[1].fields.size() == 3);
  CHECK(probes[1].fields[2].name == "queue");
  CHECK(probes[1].wrong.empty());
  CHECK(probes[2].module == "other");
  CHECK(probes[2].name.empty());
  CHECK(probes[2].wrong == "its description cannot be read, or is too long");
  CHECK(probes[3].fields.empty());

  CHECK(wrong("fkt1 instruments nothing").empty());
  CHECK(wrong("fkt2 instruments a").find("cannot be read") != std::string::npos);
  CHECK(wrong("fkt1 instruments").find("its name is \"\"") != std::string::npos);
  CHECK(wrong("fkt1 instruments a(b) x=u8").find("its name is \"a(b)\"") != std::string::npos);
  CHECK(wrong("fkt1 instrument a").find("did you mean \"instruments\"") != std::string::npos);
  CHECK(wrong("fkt1 system a").find("FKT's own") != std::string::npos);
  CHECK(wrong("fkt1 0 a").find("FKT's own") != std::string::npos);
  CHECK(wrong("fkt1 63 a").find("no layer \"63\"") != std::string::npos);
  CHECK(wrong("fkt1 instruments a x").find("no type in \"x\"") != std::string::npos);
  CHECK(wrong("fkt1 instruments a x=u65").find("no type in \"x=u65\"") != std::string::npos);
  CHECK(wrong("fkt1 instruments a x=str12").find("no type") != std::string::npos);
  CHECK(wrong("fkt1 instruments a  x=u8").find("no field \"\"") != std::string::npos);
  CHECK(wrong("fkt1 instruments a x?=u8").find("no field \"x?=u8\"") != std::string::npos);
  CHECK(wrong("fkt1 instruments a x=u8 x=u8").find("two fields \"x\"") != std::string::npos);
  std::string many = "fkt1 instruments a";
  for (int i = 0; i < 12; i++) many += " x" + std::to_string(i) + "=u8";
  CHECK(wrong(many).empty());
  CHECK(wrong(many + " y=u8").find("more than 12 fields") != std::string::npos);
}

TEST_CASE("probes are taken by module and name") {
  const Result<PointPlan> all = planned("mod:my_driver:*");
  REQUIRE(all);
  REQUIRE(all->taken.size() == 2);
  CHECK(all->taken[1].name == "my_driver:request_done");
  CHECK(all->taken[1].module == "my_driver");
  CHECK(all->taken[1].description == kDone);
  CHECK(all->taken[1].arguments == 3);
  const std::vector<RecordedField>& fields = all->taken[1].program.fields;
  REQUIRE(fields.size() == 3);
  CHECK(fields[0].kind == RecordedField::Kind::number);
  CHECK(fields[1].kind == RecordedField::Kind::signed_number);
  CHECK(fields[2].kind == RecordedField::Kind::text);
  CHECK(fields[2].words == 2);

  const Result<PointPlan> every = planned("mod:*:*,!request_*");
  REQUIRE(every);
  CHECK(every->taken.size() == 2);
  REQUIRE(every->left_out.size() == 1);
  CHECK(every->left_out[0].name == "other:?");
  REQUIRE(planned("mod:/lib/modules/x/my-driver.ko:MY_RESET"));

  CHECK(probe_refusal("mod:my_drivr:*").find("did you mean \"my_driver\"") != std::string::npos);
  CHECK(probe_refusal("mod:my_driver:request_don").find("did you mean \"request_done\"") !=
        std::string::npos);
  CHECK(probe_refusal("mod:my_driver:request_done(sectr)").find("sector") != std::string::npos);
  CHECK(probe_refusal("mod:my_driver:request_done if duration > 1ms").find("no duration") !=
        std::string::npos);
}

TEST_CASE("a probe's program tests and fetches its fields") {
  const Result<PointPlan> made =
      planned("mod:my_driver:request_done if error < 0 && queue ~ \"od*\"");
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  const fkt_program& program = made->taken.at(0).program.block.program();
  const auto run = [&](std::int32_t error, const char* queue, std::vector<__u64>& words) {
    // The upper half of a field that is narrower than its word is not looked at.
    const __u64 values[] = {~__u64{0}, 0x1234567800000000U | static_cast<std::uint32_t>(error),
                            reinterpret_cast<std::uintptr_t>(queue)};
    words.assign(program.words, 0);
    fkt_emitted out = {words.data(), 0, 0};
    return fkt_program_run(&program, values, &out, fkt::test::read_raw, no_context);
  };
  char queue[32] = "odd, and more than 16";
  std::vector<__u64> words;
  CHECK(run(0, queue, words) == FKT_RUN_DROP);
  CHECK(run(-5, "even\0           even", words) == FKT_RUN_DROP);
  CHECK(run(-5, nullptr, words) == FKT_RUN_FAULT);
  REQUIRE(run(-5, queue, words) == FKT_RUN_KEEP);
  REQUIRE(words.size() == 4);
  CHECK(words[0] == ~__u64{0});
  CHECK(words[1] == static_cast<__u64>(-5));
  CHECK(std::string(reinterpret_cast<const char*>(&words[2]), 16).starts_with("odd, and more"));
}

TEST_CASE("probes are found in the files of modules") {
  const std::string zero(1, '\0');
  const std::string file = "ELF" + zero + kDone + zero + "not fkt1 x" + zero + kReset + zero +
                           kDone + zero + "fkt1 " + std::string(600, 'x') + zero;
  const std::vector<ModuleProbe> probes = probes_in_file("./my-driver.ko", file);
  REQUIRE(probes.size() == 2);
  CHECK(probes[0].module == "my_driver");
  CHECK(probes[1].description == kDone);
  CHECK(probes_in_file("a.ko", zero + "fkt1 cut off").empty());

  const std::string list =
      "kernel/fs/ext4/ext4.ko.xz: kernel/fs/jbd2/jbd2.ko.xz\nextra/my-driver.ko:\n";
  CHECK(record::file_of_module(list, "/lib/modules/6", "my_driver") ==
        "/lib/modules/6/extra/my-driver.ko");
  CHECK(record::file_of_module(list, "/x", "ext4") == "/x/kernel/fs/ext4/ext4.ko.xz");
  CHECK(record::file_of_module(list, "/x", "jbd2").empty());
  CHECK_FALSE(record::read_module_file("/x/ext4.ko.xz"));
}
