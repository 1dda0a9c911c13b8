// SPDX-License-Identifier: GPL-2.0-only
// Tests that the tools refuse what they would otherwise ignore or misunderstand, in one line that
// names the option or the file as the user did.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "cli/base/messages.h"
#include "cli/base/text_file.h"
#include "cli/fkt_bufstats/bufstats.h"
#include "cli/fkt_extract/extract.h"
#include "cli/fkt_kd/kd.h"
#include "cli/fkt_print/print.h"
#include "cli/fkt_receive/request.h"
#include "cli/fkt_record/request/request.h"
#include "lib/record/device.h"
#include "lib/record/machine_checks.h"
#include "tests/unit/folder.h"
#include "tests/unit/golden.h"

using namespace fkt;
using namespace fkt::test;

namespace {

using Words = std::vector<std::string>;

int record_request(int argc, const char* const* argv) {
  const record::Parsed parsed = record::parse_command_line(argc, argv);
  return parsed.request ? -1 : parsed.status;
}

int receive_request(int argc, const char* const* argv) {
  const receive::Parsed parsed = receive::parse_command_line(argc, argv);
  return parsed.request ? -1 : parsed.status;
}

struct Case {
  Words words;
  std::string line;
};

void check_refused(Tool tool, const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    std::string typed;
    for (const std::string& word : one.words) typed += word + ' ';
    INFO(typed);
    const Ran ran = run_tool(tool, "tool", one.words);
    CHECK(ran.status == 2);
    CHECK(ran.text == "tool: " + one.line + '\n');
  }
}

std::string path(const char* name) {
  return golden() / name;
}

// The first bytes of a golden recording.
std::string beginning(const Folder& folder, const char* name, std::size_t bytes) {
  const std::string cut = folder.file("cut.fkt");
  std::ofstream(cut, std::ios::binary) << contents(golden() / name).substr(0, bytes);
  return cut;
}

}  // namespace

TEST_CASE("fkt_kd refuses what an output does not heed") {
  const std::string find = path("find.fkt");
  check_refused(cli::kd,
                {{{"-n", "1", "-c", find}, "-n: not for -c"},
                 {{"-n", "1", "--folded", find}, "-n: not for --folded"},
                 {{"-n", "1", "--flamegraph", find}, "-n: not for --flamegraph"},
                 {{"-n", "1", "--histogram", "sys_lstat", find}, "-n: not for --histogram"},
                 {{"-n", "1", "--kft-log", find}, "-n: not for --kft-log"},
                 {{"-n", "1", "--offcpu", "--dot", find}, "-n: not for --dot"},
                 {{"-f", "Fc", "--tasks", find}, "-f: not for --tasks"},
                 {{"--sort", "c", "-c", find}, "--sort: not for -c"},
                 {{"--sort", "c", "--offcpu", find}, "--sort: not for --offcpu"},
                 {{"-l", "--folded", find}, "-l: not for --folded"},
                 {{"-t", "5", "--tasks", find}, "-t: not for --tasks"},
                 {{"--time", "us", "--kft-log", find}, "--time: not for --kft-log"},
                 {{"--json", "-c", find}, "--json: not for -c"}});
  for (const Words& good : std::vector<Words>{{"-n", "1", "--tasks", "-l", find},
                                              {"-n", "1", "--offcpu", "--json", find},
                                              {"-c", "-l", "-t", "5", find},
                                              {"-l", "-n", "1", "--sort", "c", "-t", "5", find}}) {
    CHECK(run_tool(cli::kd, "tool", good).status == 0);
  }
}

TEST_CASE("a KFT log has microseconds and no cycles") {
  const std::string log = path("kd.find-log.lst");
  check_refused(cli::kd,
                {{{"--time", "cycles", log},
                  "--time: \"cycles\" is not one of ns, us, ms, s: a KFT log has microseconds"},
                 {{"-t", "5cycles", log}, "-t: \"5cycles\": a KFT log has microseconds"}});
  CHECK(run_tool(cli::kd, "tool", {"--time", "ns", "-t", "5us", log}).status == 0);
}

TEST_CASE("fkt_print says what is wrong with what was typed") {
  const std::string find = path("find.fkt");
  const std::string no_time = "\"nan\" is no time: give a number with ns, us, ms or s, ";
  check_refused(
      cli::print_recording,
      {{{"--around", "nosuch", find}, "--around: no event \"nosuch\""},
       {{"--from", "nan", find},
        "--from: " + no_time + "cycles (as 12000cycles), or HH:MM:SS.frac"},
       {{"--around", "clock", "--window", "nan", find},
        "--window: " + no_time + "or cycles (as 12000cycles)"},
       {{"--top", "1", "--slowest", "3", "sys_*", find},
        "--top: not for --slowest, whose first word is the number of rows"},
       {{"--slowest", "3", "--json", "sys_*", find},
        "--slowest: two words belong behind it, before --json"},
       {{"--top", "0", "--diff", find, find}, "--top: \"0\" is not a number from 1 to 1000000"}});
}

TEST_CASE("fkt_print --top cuts a comparison") {
  const Ran all = run_tool(cli::print_recording, "tool",
                           {"--diff", path("boot.lst"), "--csv", path("find.fkt")});
  const Ran top = run_tool(cli::print_recording, "tool",
                           {"--top", "3", "--diff", path("boot.lst"), "--csv", path("find.fkt")});
  CHECK(std::ranges::count(all.text, '\n') > 4);
  CHECK(std::ranges::count(top.text, '\n') ==
        5);  // the line on unlike recordings, the head, three rows
  CHECK(all.text.starts_with(top.text));
}

TEST_CASE("files that need writing at any place are not standard output") {
  const std::string line = "-o: standard output is not possible, name a file";
  check_refused(cli::extract_slice, {{{"--from", "0s", "-o", "-", path("find.fkt")}, line}});
  check_refused(receive_request, {{{"-o", "-"}, line}});
}

TEST_CASE("fkt_extract tells the events that can be read") {
  const Folder folder;
  const auto said = [&](const char* name) {
    return run_tool(cli::extract_slice, "tool",
                    {"--from", "0s", "-o", folder.file("p.fkt"), "-f", path(name)});
  };
  const Ran broken = said("packed-broken.fkt");
  CHECK(broken.status == 1);
  CHECK_THAT(broken.text, Catch::Matchers::Contains(", 14 of 49 events, 2 of 2 pages, "));
  CHECK_THAT(run_tool(cli::print_recording, "tool", {"--stats", folder.file("p.fkt")}).text,
             Catch::Matchers::Contains("Events:    14, 0 lost\n"));
  CHECK_THAT(said("packed.fkt").text, Catch::Matchers::Contains(" s, 49 events, 2 of 2 pages, "));
}

TEST_CASE("a recording that is cut off before its events") {
  const Folder folder;
  const std::string cut = beginning(folder, "find.fkt", 5000);
  const Ran all = run_tool(cli::print_recording, "tool", {cut});
  CHECK(all.status == 1);
  CHECK_THAT(all.text, Catch::Matchers::Contains("tool: " + cut + ": no events can be read\n") &&
                           Catch::Matchers::EndsWith(" (and 1 more finding, in the statistics)\n"));
  const Ran dump = run_tool(cli::print_recording, "tool", {"--dump", cut});
  CHECK_THAT(dump.text, Catch::Matchers::EndsWith(": fkt_print --stats lists them)\n"));
  const Ran part = run_tool(cli::print_recording, "tool", {"--where", "cpu == 0", cut});
  CHECK_THAT(part.text, Catch::Matchers::Contains("tool: " + cut + ": 0 events are selected\n"));
  CHECK_THAT(run_tool(cli::kd, "tool", {cut}).text,
             Catch::Matchers::Contains("tool: " + cut + ": no events can be read\n"));
  const Ran states = run_tool(cli::buffer_statistics, "tool", {cut});
  CHECK(states.status == 2);
  CHECK_THAT(states.text,
             Catch::Matchers::EndsWith("tool: " + cut + ": no page of events in the recording\n"));
}

TEST_CASE("fkt_record names options as they are typed") {
  const std::string moment =
      "\" is no moment: entry:FUNCTION, exit:FUNCTION or time:TIME, as exit:vfs_fsync";
  check_refused(
      record_request,
      {{{"--trigger-start", "entry:", "--explain"}, "--trigger-start: \"entry:" + moment},
       {{"--trigger-stop", "exit: ", "--explain"}, "--trigger-stop: \"exit: " + moment},
       {{"-i"}, "-i/--instrument: needs a value"},
       {{"--pid"}, "--pid: needs a value"},
       {{"-q", "-q", "ls"}, "-q: given more than once"},
       {{"--user-only", "-i", "call:vfs_read", "ls"},
        "--user-only: not with -i/--instrument, which is for what the kernel does"},
       {{"--user-only", "-k", "system", "ls"},
        "--user-only: not with -k, which is for what the kernel does"},
       {{"--layers", "extra"}, "\"extra\": --layers takes no COMMAND (a pattern is to be quoted)"},
       {{"--list", "call:vfs_read", "call:vfs_write"},
        "\"call:vfs_write\": --list takes no COMMAND (a pattern is to be quoted)"}});
  check_refused(record_request,
                {{{"--mintime", "5", "--trigger-start", "entry:f duration >", "--explain"},
                  "--trigger-start: column 19: the end where a value should stand"}});
}

TEST_CASE("fkt_record --explain tells all that is recorded") {
  const Ran ran = run_tool(record_request, "tool",
                           {"--keep-children=3", "-F", "vfs_*", "-i", "call:ext4_*", "--duration",
                            "2", "--explain", "-k", "process,system"});
  CHECK(ran.status == 0);
  CHECK(ran.text ==
        "the recording begins at once\n"
        "it ends when the command does, or with Ctrl-C\n"
        "the calls of vfs_* are recorded\n"
        "recorded, too, is call:ext4_*\n"
        "with each of them, however short they are, the calls of these functions that it has made, "
        "directly or not, to 3 calls below it\n"
        "it ends 2s after its begin at the latest\n"
        "\n"
        "as instruments: fkt_record -k process,system \\\n"
        "    -i 'call:vfs_*' \\\n"
        "    -i 'call:ext4_*' \\\n"
        "    --keep-children=3 \\\n"
        "    --duration 2s\n");
  check_refused(
      record_request,
      {{{"--keep-children=0", "-F", "vfs_*", "--explain"},
        "--keep-children: \"0\" where how many calls deep (3), the least share of the time "
        "(10%), or both (3,10%) should stand"},
       {{"-t", "5", "-F", "vfs_*", "--explain"},
        "-t: only with --functions (for the kernel's functions: --mintime)"},
       {{"--explain"}, "--explain: only with --kft, or -F, --mintime, ..."}});
}

TEST_CASE("a module that is not there") {
  if (::access(FKT_DEVICE, F_OK) == 0) return;
  const Result<Device> device = Device::open();
  REQUIRE_FALSE(device);
  CHECK(device.error().message ==
        FKT_DEVICE ": no such device: " + doctor::why_no_device(doctor::this_machine()));
}

TEST_CASE("a text for standard output ends without an error when nobody reads on") {
  cli::ignore_sigpipe();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  Result<cli::TextFile> out = cli::TextFile::create("-");
  const bool opened = static_cast<bool>(out);
  if (opened) out->out().put("text\n");
  const bool written = opened && out->flush(true);
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  ::close(ends[1]);
  CHECK(opened);
  CHECK(written);
}
