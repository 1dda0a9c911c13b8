// SPDX-License-Identifier: GPL-2.0-only
// Tests which functions an instrument on calls takes, and the reasons for those that it leaves out.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "lib/instrument/call_plan.h"
#include "tests/unit/instrument/made_btf.h"

using namespace fkt;
using namespace fkt::test;

namespace {

const std::vector<Symbol> kSymbols = {
    {0x1000, 'T', "vfs_read", ""},       {0x1100, 'D', "vfs_data", ""},
    {0x1200, 't', "vfs_readv", ""},      {0x1300, 't', "vfs_read.part.0", ""},
    {0x1400, 't', "done", ""},           {0x1500, 't', "same", ""},
    {0x1600, 't', "same", ""},           {0x1700, 'T', "panic", ""},
    {0x1800, 't', "take_seven", ""},     {0x1900, 't', "vfs_hidden", ""},
    {0x1a00, 't', "do_thing", ""},       {0x1b00, 't', "unknown", ""},
    {0x900, 't', "vfs_read", "other"},   {0x2000, 't', "done", "bare"},
    {0x1c00, 't', "no_probe", ""},       {0x1d00, 'T', "__x64_sys_openat", ""},
    {0x1e00, 'T', "__x64_sys_sync", ""},
};

// As tracefs has it.
std::string call_format(std::string_view call) {
  std::string text =
      "name: sys_enter\nID: 1\nformat:\n"
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
      "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n";
  if (call == "openat") {
    text +=
        "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
        "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
        "\tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n"
        "\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n"
        "\tfield:__data_loc char[] __filename_val;\toffset:48;\tsize:4;\tsigned:0;\n";
  }
  return text + "\nprint fmt: \"\"\n";
}

Result<CallPlan> planned(const std::string& text, std::size_t most_probes = 0) {
  static const Btf btf = MadeBtf().read();
  static const FunctionIndex functions(kSymbols);
  static const TraceableFunctions traceable(
      "vfs_read\nvfs_readv\nvfs_read.part.0\ndone\nsame\nsame\npanic\ntake_seven\ndo_thing\n"
      "unknown\nno_probe\n__x64_sys_openat\n__x64_sys_sync\nvfs_read [other]\ndone [bare]\n",
      "0x0000000000001c00-0x0000000000001c40\tno_probe\n0x1a00-0x1a20\tdo_thing\n");
  const Result<Instrument> instrument = Instrument::parse(text);
  REQUIRE(instrument);
  const auto types = [](std::string_view module) { return module == "bare" ? nullptr : &btf; };
  return plan_calls(*instrument, {functions, traceable, types, 1e9, {}, most_probes, call_format});
}

CallPlan plan(const std::string& text, std::size_t most_probes = 0) {
  const Result<CallPlan> made = planned(text, most_probes);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  return *made;
}

std::string refusal(const std::string& text) {
  const Result<CallPlan> made = planned(text);
  return made ? "made" : made.error().message;
}

}  // namespace

TEST_CASE("functions are taken by name and module, with programs that they share") {
  const CallPlan all = plan("call:vfs_*(count) if duration > 1us");
  REQUIRE(all.taken.size() == 3);
  CHECK(all.taken[0].module == "other");
  CHECK(all.taken[0].address == 0x900);
  CHECK(all.taken[1].name == "vfs_read");
  CHECK(all.taken[2].name == "vfs_readv");
  CHECK(all.programs.size() == 1);
  CHECK(all.programs[0].limits.shortest == 1001);
  CHECK(plan("call:vmlinux:vfs_read").taken.size() == 1);
  CHECK(plan("call:other:*").taken.size() == 1);
  const CallPlan two = plan("call:vfs_read,do_thing ret");
  CHECK(two.taken.size() == 3);
  CHECK(two.programs.size() == 2);  // one result has 64 bits, the other 32
  CHECK(two.taken[0].programs == two.taken[1].programs);
  CHECK(two.taken[1].programs != two.taken[2].programs);
  CHECK(two.programs[0].limits.shortest == 0);
  CHECK(two.programs[0].limits.deepest == 0);
  CHECK(two.programs[0].limits.contexts == 0xf);
  const auto limits = [](const char* condition) {
    return plan("call:vfs_read if " + std::string(condition)).programs[0].limits;
  };
  CHECK(limits("depth <= 5 && context == task").deepest == 5);
  CHECK(limits("depth < 5 && depth < 9").deepest == 4);
  CHECK(limits("depth > 5").deepest == 0);
  CHECK(limits("depth <= 5 || cpu == 1").deepest == 0);
  CHECK(limits("context == task && duration >= 5us").contexts == 1);
  CHECK(limits("context != task").contexts == 0xe);
  // A function without a result is recorded without it, unless it is the only one.
  const CallPlan with_void = plan("call:vfs_read,done ret");
  CHECK(with_void.taken.size() == 3);
  CHECK(with_void.programs[with_void.taken[2].programs].fields.empty());
  CHECK(refusal("call:vmlinux:done ret") == "done: column 19: ret has no value: it is void");
}

TEST_CASE("functions that are left out have a reason") {
  std::map<std::string, std::string> reasons;
  const CallPlan all = plan("call:*");
  for (const CallPlan::LeftOut& one : all.left_out)
    reasons[one.name + " " + one.module] = one.reason;
  CHECK(all.taken.size() == 7);
  CHECK(reasons.size() == 8);
  CHECK(reasons["vfs_read.part.0 "] ==
        "the compiler made this variant: its arguments are not known");
  CHECK(reasons["same "] == "2 functions are called so");
  CHECK(reasons["panic "] == "it does not return, or not as it was entered");
  CHECK(reasons["take_seven "] ==
        "argument 7 (long unsigned int) is on the stack, so whole calls cannot be traced");
  CHECK(reasons["vfs_hidden "] == "the kernel does not let it be traced");
  CHECK(reasons["unknown "] == "no function \"unknown\" has a description");
  CHECK(reasons["done bare"] == "the types of module bare are not described");
  // Programs that suit all functions change nothing of that.
  const CallPlan slow = plan("call:* if duration > 1us && depth < 3");
  CHECK(slow.programs.size() == 1);
  CHECK(slow.programs[0].suits_all);
  CHECK(slow.taken.size() == all.taken.size());
  REQUIRE(slow.left_out.size() == all.left_out.size());
  for (const CallPlan::LeftOut& one : slow.left_out)
    CHECK(reasons.at(one.name + " " + one.module) == one.reason);
  CHECK(!plan("call:vfs_* if ret < 0 && duration > 1us").programs[0].suits_all);
  CHECK(!plan("call:vfs_*(count)").programs[0].suits_all);
  // What is known of each hit can be a value of all of them.
  const CallPlan stacks = plan("call:vfs_*(stack_left)");
  CHECK(stacks.taken.size() == 3);
  REQUIRE(stacks.programs[0].fields.size() == 1);
  CHECK(stacks.programs[0].fields[0].name == "stack_left");
  CHECK(stacks.programs[0].entry.program().words == 1);
  CHECK(refusal("call:vmlinux:vfs_read(stack_leftt)").ends_with("did you mean \"stack_left\"?"));
  CHECK(refusal("call:vmlinux:vfs_read(task)").find("has no argument") != std::string::npos);
  // Of many functions, those without the argument are left out.
  CHECK(plan("call:*(ms)").taken.size() == 1);
}

TEST_CASE("a place where nothing can be traced is refused") {
  CHECK(refusal("call:vfs_raed") ==
        "no function is called \"vfs_raed\"; did you mean \"vfs_read\"?");
  CHECK(refusal("call:vfs_data").starts_with("no function is called \"vfs_data\""));
  CHECK(refusal("call:xfs_*") == "\"call:xfs_*\": no function fits");
  CHECK(refusal("call:other:done") == "no function is called \"done\"");
  CHECK(refusal("call:panic") == "panic: it does not return, or not as it was entered");
  CHECK(refusal("call:do_thing(m)") ==
        "do_thing: column 15: do_thing has no argument \"m\"; it has ms, delta, state, arg4");
  CHECK(refusal("call:same,panic") ==
        "\"call:same,panic\": none of the 2 functions that fit can be traced: same: 2 functions "
        "are called so");
}

TEST_CASE("an entry needs no description of the function unless its arguments are asked for") {
  const CallPlan all = plan("fn:*:entry");
  CHECK(all.taken.size() == 15);
  CHECK(all.programs.size() == 1);
  CHECK(all.programs[0].entry.program().insns == 0);
  CHECK(all.programs[0].limits.shortest == 0);
  REQUIRE(all.left_out.size() == 1);
  CHECK(all.left_out[0].name == "vfs_hidden");
  // Both functions of one name, one that does not return, one with arguments on the stack.
  CHECK(plan("fn:same,panic,take_seven:entry").taken.size() == 4);
  CHECK(plan("fn:vmlinux:same:entry if pid == 1").taken.size() == 2);
  const CallPlan with_values = plan("fn:vfs_*,same:entry(count) if count > 5");
  CHECK(with_values.taken.size() == 3);
  CHECK(with_values.programs[0].exit.program().insns == 0);
  CHECK(with_values.programs[0].entry.program().words == 1);
  CHECK(with_values.left_out.size() == 4);
  CHECK(refusal("fn:same:entry(count)") ==
        "\"fn:same:entry(count)\": none of the 2 functions that fit can be traced: same: 2 "
        "functions are called so");
  CHECK(refusal("fn:done:entry if ret > 1").ends_with("ret has no value: it is void"));
  CHECK(refusal("fn:vfs_read:entry ret")
            .ends_with("a function's entry has no return value and no duration"));
  CHECK(refusal("fn:take_seven:entry(arg7)").ends_with("argument 7 is not in a register"));
}

TEST_CASE("a function that takes no probe is left out, unless it can be called through") {
  const Result<CallPlan> none = planned("call:no_probe", 10);
  REQUIRE_FALSE(none);
  CHECK(none.error().message.ends_with("; the kernel forbids kprobes in it"));
  const CallPlan both = plan("call:no_probe,do_thing", 10);
  REQUIRE(both.taken.size() == 1);
  CHECK(both.taken[0].name == "do_thing");
  REQUIRE(both.left_out.size() == 1);
  CHECK(both.left_out[0].name == "no_probe");
}

TEST_CASE("what cannot be called through has a return probe, unless too many need one") {
  std::map<std::string, std::string> ways;
  for (const CallPlan::Taken& one : plan("call:*", 10).taken) ways[one.name] = one.by_probe;
  CHECK(ways["vfs_read"].empty());
  CHECK(ways["same"] == "2 functions are called so");
  CHECK(ways["vfs_read.part.0"] == "the compiler made this variant: its arguments are not known");
  CHECK(ways["take_seven"] ==
        "argument 7 (long unsigned int) is on the stack, so whole calls cannot be traced");
  CHECK(ways["unknown"] == "no function \"unknown\" has a description");
  CHECK_FALSE(ways.contains("panic"));
  CHECK_FALSE(ways.contains("vfs_hidden"));
  // Arguments in registers are known of a function that has others on the stack.
  CHECK(plan("call:take_seven(arg2)", 1).taken.size() == 1);
  CHECK(plan("fn:same:exit", 2).taken.size() == 2);
  const CallPlan few = plan("call:same,vfs_read", 1);
  CHECK(few.taken.size() == 2);  // vfs_read, of the kernel and of a module
  REQUIRE(few.left_out.size() == 2);
  CHECK(few.left_out[0].reason ==
        "2 functions are called so; return probes for 2 functions are too many (at most 1)");
}

TEST_CASE("system calls have the arguments that the kernel says") {
  const CallPlan all = plan("sys:*");
  REQUIRE(all.taken.size() == 2);
  CHECK(all.taken[0].name == "__x64_sys_openat");
  CHECK(plan("sys:*,!sync").taken.size() == 1);
  const CallPlan open = plan("sys:openat(dfd, filename, arg3, mode) ret if dfd < 0 || flags == 64");
  REQUIRE(open.programs.size() == 1);
  const auto& fields = open.programs[0].fields;
  REQUIRE(fields.size() == 5);
  CHECK(fields[0].kind == RecordedField::Kind::signed_number);
  CHECK(fields[1].kind == RecordedField::Kind::address);
  CHECK(fields[3].kind == RecordedField::Kind::number);
  CHECK(refusal("sys:openat(pathname)").find("it has dfd, filename, flags, mode") !=
        std::string::npos);
  CHECK(refusal("sys:openat(filename:string)").find("leads to memory of the program") !=
        std::string::npos);
  CHECK(refusal("sys:openat(filename[0])").find("leads to memory of the program") !=
        std::string::npos);
  CHECK(refusal("sys:sync(arg1)").find("it has none") != std::string::npos);
  // The function itself has the registers only.
  CHECK(plan("call:__x64_sys_openat(regs.si)").taken.size() == 1);
  CHECK(refusal("call:__x64_sys_openat(dfd)").find("it has regs") != std::string::npos);
}
