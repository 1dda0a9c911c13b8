// SPDX-License-Identifier: GPL-2.0-only
// Tests stacks in recordings: how they are shown, found and counted.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <fkt/point_hit.h>

#include "lib/analyse/search_passes.h"
#include "lib/report/stack_counts.h"
#include "tests/unit/analyzed.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr const char* kSymbols =
    "#\tkaslr_offset=0\n"
    "ffffffff81000000\tT\tentry_SYSCALL_64\t\n"
    "ffffffff81001000\tT\tksys_read\t\n"
    "ffffffff81002000\tT\tvfs_read\t\n"
    "ffffffff81003000\tT\t__traceiter_kmalloc\t\n"
    "ffffffffc0001000\tt\tdev_read\tmy_driver\n";

constexpr std::uint64_t kEntry = 0xffffffff81000040, kKsys = 0xffffffff81001060,
                        kVfs = 0xffffffff81002005, kIter = 0xffffffff81003030,
                        kDriver = 0xffffffffc0001020;

void add_stack(RecordingBuilder& b, std::uint64_t at, std::uint16_t id,
               const std::vector<std::uint64_t>& frames) {
  b.long_event(0, at, id, static_cast<std::uint32_t>(FKT_POINT_ARG(3, frames.size())), frames);
}

RecordingBuilder recording() {
  RecordingBuilder b;
  b.section(FKT_SEC_SYMBOLS, kSymbols);
  b.pid(0, 42);
  add_stack(b, T + 10, FKT_E_STACK, {kVfs, kKsys, kEntry});
  add_stack(b, T + 11, FKT_E_USER_STACK, {0x401000, 0x402000});
  add_stack(b, T + 20, FKT_E_STACK, {kIter, kDriver, kVfs, kKsys, kEntry});
  add_stack(b, T + 30, FKT_E_STACK, {kVfs, kKsys, kEntry});
  add_stack(b, T + 31, FKT_E_USER_STACK, {0x401000, 0x402000});
  return b;
}

std::size_t shown(const std::string& where) {
  RecordingBuilder b = recording();
  const Bytes file = b.finish();
  const Recording trace = std::move(*Recording::from_bytes(file));
  const auto filter = make_filter(trace, where, {});
  REQUIRE(filter);
  Selection selection;
  selection.where = *filter;
  const std::string dump = Analyzed(file, selection).dump();
  return static_cast<std::size_t>(std::ranges::count(dump, '\n'));
}

std::string counts(RecordingBuilder& b) {
  b.section(FKT_SEC_TASKS, "1\t1\t0\tinit\n42\t42\t1\ta b;c\n43\t43\t1\tx\n");
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  Analysis analysis(trace->info(), {});
  StackCounts stacks(analysis);
  for (const Event& event : trace->events({})) stacks.add(event, analysis.add(event));
  TextWriter out;
  stacks.write(out);
  return std::string(out.view());
}

}  // namespace

TEST_CASE("a stack is shown by its functions, the innermost one first") {
  RecordingBuilder b = recording();
  const Analyzed read(b);
  CHECK(read.dump().find("stack instrument=3, frames=vfs_read+0x5 < ksys_read+0x60 < "
                         "entry_SYSCALL_64+0x40\n") != std::string::npos);
  CHECK(read.dump().find("user_stack instrument=3, frames=0x401000 < 0x402000\n") !=
        std::string::npos);
  // What only calls the probe of a tracepoint is left out.
  CHECK(read.dump().find("frames=dev_read+0x20 [my_driver] < vfs_read+0x5 <") != std::string::npos);
  const auto line = read.json_dump().substr(0, read.json_dump().find('\n'));
  CHECK(nlohmann::json::parse(line).at("args").at("frames") ==
        std::vector<std::string>{"vfs_read+0x5", "ksys_read+0x60", "entry_SYSCALL_64+0x40"});
}

TEST_CASE("a frame behind a function's last instruction is of that function") {
  RecordingBuilder b;
  b.section(FKT_SEC_SYMBOLS, kSymbols);
  b.pid(0, 42);
  // The second one: a call that does not return is the last instruction of ksys_read().
  add_stack(b, T, FKT_E_STACK, {0xffffffff81002000, 0xffffffff81002000});
  CHECK(Analyzed(b).dump().find("frames=vfs_read < ksys_read+0x1000\n") != std::string::npos);
}

TEST_CASE("stacks are found by any of their functions") {
  CHECK(shown("frames == \"dev_read\"") == 1);
  CHECK(shown("frames == \"ksys_read\"") == 3);
  CHECK(shown("frames ~ \"*_read\"") == 3);
  CHECK(shown("name == stack && frames != \"dev_read\"") == 2);
}

TEST_CASE("stacks are counted with the user's below the kernel's") {
  RecordingBuilder b = recording();
  CHECK(counts(b) ==
        "a b\\x3bc;0x402000;0x401000;entry_SYSCALL_64;ksys_read;vfs_read 2\n"
        "a b\\x3bc;entry_SYSCALL_64;ksys_read;vfs_read;dev_read 1\n");
}

TEST_CASE("a user stack of another thread or without a stack before it is one alone") {
  RecordingBuilder b;
  b.section(FKT_SEC_SYMBOLS, kSymbols);
  b.pid(0, 42);
  add_stack(b, T, FKT_E_USER_STACK, {0x401000});
  add_stack(b, T + 1, FKT_E_STACK, {kVfs});
  b.pid(0, 43);
  add_stack(b, T + 2, FKT_E_USER_STACK, {0x401000});
  CHECK(counts(b) == "a b\\x3bc;0x401000 1\na b\\x3bc;vfs_read 1\nx;0x401000 1\n");
}
