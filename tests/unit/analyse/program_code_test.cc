// SPDX-License-Identifier: GPL-2.0-only
// Tests ProgramCode: the functions at addresses of programs, of which this test is one.
#include <catch2/catch.hpp>

#include <fmt/core.h>

#include "lib/analyse/program_code.h"
#include "lib/base/read_file.h"
#include "lib/instrument/program_functions.h"
#include "lib/record/mapped_files.h"
#include "tests/unit/analyzed.h"

using namespace fkt;
using namespace fkt::test;

// A function with a symbol.
extern "C" __attribute__((noinline)) int fkt_test_of_code(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

namespace {

constexpr const char* kMapLines =
    "name\tfunction\t0\tperf_event_mmap\n"
    "values\tfunction\t0\t0\tbegin:x:1:0:64 end:x:2:0:64 page:u:3:0:64 dev:dev:4:0:64 "
    "ino:u:5:0:64\n";

const auto kHere = reinterpret_cast<std::uint64_t>(&fkt_test_of_code);

// The mapping of this program's code.
Mapped own_code() {
  for (const Mapped& mapped : parse_maps(*read_file("/proc/self/maps"))) {
    if (kHere >= mapped.begin && kHere < mapped.end) return mapped;
  }
  throw std::runtime_error("no code here");
}

class CodeRecording : public RecordingBuilder {
 public:
  // until: what the wall clock shows (ns).
  explicit CodeRecording(std::uint64_t until = 4'000'000'000'000'000'000) {
    section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kMapLines);
    section(FKT_SEC_TASKS, "1\t1\t0\tinit\n42\t42\t1\tapp\n43\t42\t1\tapp\n60\t60\t1\tother\n");
    section(FKT_SEC_CLOCKS,
            R"({"source":"tsc","khz":1000000,"start":{"clock":1000000,"mono_raw_ns":0,"mono_ns":0,)"
            R"("real_ns":)" +
                std::to_string(until) + "}}");
    section(FKT_SEC_TOTALS, "");
    pid(0, 42).pid(1, 43).pid(2, 60);
  }
  void map(std::uint32_t cpu, std::uint64_t at, const Mapped& code) {
    const std::uint64_t words[] = {0,           code.begin, code.end, code.offset / 4096,
                                   code.device, code.inode};
    long_event(cpu, T + at, FKT_E_FUNCTION_ENTRY_VALUES, 6, words);
  }
  void name(std::uint64_t at, const Mapped& code) {
    std::vector<std::uint64_t> words{code.device, code.inode};
    for (std::size_t i = 0; i < code.path.size(); i += 8)
      words.push_back(chars(code.path.substr(i, 8).c_str()));
    long_event(0, T + at, FKT_E_NAME, static_cast<std::uint32_t>(words.size()), words);
  }
  void list(std::uint32_t tgid, const Mapped& code) {
    section(FKT_SEC_MAPS, fmt::format("{}\t{:x}\t{:x}\t{:x}\t{}\t{}\t{}\n", tgid, code.begin,
                                      code.end, code.offset, code.device, code.inode, code.path));
  }
};

// What is said of an address of a task after all events.
std::string frame(CodeRecording& builder, std::uint32_t tid, std::uint64_t address,
                  bool innermost = true) {
  const Recording recording = opened(builder.finish());
  Analysis analysis(recording.info(), {});
  ProgramCode code(analysis, read_program_functions);
  for (const Event& event : recording.events({})) code.add(event, analysis.add(event));
  return code.frame(analysis.tasks().find(tid), address, innermost);
}

const std::string kFile = own_code().path.substr(own_code().path.rfind('/') + 1);

}  // namespace

TEST_CASE("code that was mapped before the recording, of all threads of the process alone") {
  const auto made = [] {
    CodeRecording r;
    r.list(42, own_code());
    r.event(0, T + 1, FKT_E_MARK);
    return r;
  };
  CodeRecording r = made();
  CHECK(frame(r, 42, kHere) == "fkt_test_of_code [" + kFile + "]");
  CHECK(frame(r = made(), 43, kHere + 2) == "fkt_test_of_code+0x2 [" + kFile + "]");
  CHECK(frame(r = made(), 60, kHere) == fmt::format("{:#x}", kHere));
  CHECK(frame(r = made(), 42, 0x10) == "0x10");
  // It returns to the first instruction behind a function which ends with a call.
  CHECK(frame(r = made(), 42, kHere, false) != "fkt_test_of_code [" + kFile + "]");
}

TEST_CASE("a file that was changed since the recording names no functions") {
  CodeRecording r(1'000'000'000'000'000'000);
  r.list(42, own_code());
  r.event(0, T + 1, FKT_E_MARK);
  const Mapped code = own_code();
  CHECK(frame(r, 42, kHere) == fmt::format("{}+{:#x}", kFile, kHere - code.begin + code.offset));
}

TEST_CASE("code that is mapped, inherited, covered and given up by execve") {
  Mapped code = own_code(), other = code;
  CodeRecording r;
  r.name(1, code);
  r.map(0, 2, code);
  r.event(0, T + 3, FKT_E_FORK, 77, {pair(77, 42)});
  CodeRecording copy = r;
  CHECK(frame(copy, 77, kHere) == "fkt_test_of_code [" + kFile + "]");

  // Very many are read in no time that matters.
  CodeRecording many;
  std::string lines;
  for (std::uint64_t i = 1; i <= 200'000; i++)
    lines += fmt::format("42\t{:x}\t{:x}\t0\t1\t{}\t/a\n", i << 12, (i + 1) << 12, i);
  many.section(FKT_SEC_MAPS, lines);
  many.event(0, T + 1, FKT_E_MARK);
  CHECK(frame(many, 42, (77 << 12) + 5) == "a+0x5");

  // Something else covers a part of it in the parent, not in the child.
  other.begin = kHere & ~0xfffULL;
  other.end = other.begin + 4096;
  other.inode = 1;
  r.map(0, 4, other);
  copy = r;
  CHECK(frame(copy, 77, kHere) == "fkt_test_of_code [" + kFile + "]");
  copy = r;
  CHECK(frame(copy, 42, kHere) == fmt::format("+{:#x}", (kHere & 0xfff) + other.offset));
  copy = r;
  if (other.end < code.end) CHECK(frame(copy, 42, other.end + 1).ends_with("[" + kFile + "]"));

  // The name comes before the new program's code, the event of the exec behind it.
  r.event(0, T + 5, FKT_E_RENAME, 42, {chars("new"), 0});
  code.begin += 0x10000000;
  code.end += 0x10000000;
  r.map(0, 6, code);
  r.event(0, T + 7, FKT_E_EXEC, 1, {pair(42, 42)});
  copy = r;
  CHECK(frame(copy, 42, kHere) == fmt::format("{:#x}", kHere));
  copy = r;
  CHECK(frame(copy, 42, kHere + 0x10000000) == "fkt_test_of_code [" + kFile + "]");
}

TEST_CASE("where a file may be that is known from the root of its file system") {
  const char* const mounts =
      "22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
      "23 22 8:2 / /srv rw - ext4 /dev/sda2 rw\n"
      "24 22 8:2 /data /var/data rw - ext4 /dev/sda2 rw\n";
  CHECK(places_of_file(mounts, 8 << 20 | 2, "/data/app") ==
        std::vector<std::string>{"/data/app", "/srv/data/app", "/var/data/app", "/app"});
  CHECK(places_of_file(mounts, 8 << 20 | 1, "/usr/bin/true") ==
        std::vector<std::string>{"/usr/bin/true", "/usr/bin/true", "/bin/true", "/true"});
  CHECK(places_of_file(mounts, 8 << 20 | 2, "/database") ==
        std::vector<std::string>{"/database", "/srv/database"});
}
