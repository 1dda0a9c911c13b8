// SPDX-License-Identifier: GPL-2.0-only
// Tests the lines that describe instruments: their meaning, and the errors of wrong ones.
#include <catch2/catch.hpp>
#include <string>

#include "lib/instrument/instrument.h"

using namespace fkt;

namespace {

Instrument made(const std::string& text) {
  const Result<Instrument> instrument = Instrument::parse(text);
  INFO((instrument ? "" : instrument.error().message));
  REQUIRE(instrument);
  return *instrument;
}

std::string text_refusal(const std::string& text) {
  const Result<Instrument> instrument = Instrument::parse(text);
  return instrument ? "made" : instrument.error().message;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("places") {
  const Place call = made("call:ext4_*,!ext4_da_*,jbd2_*").place;
  CHECK(call.kind == Place::Kind::call);
  CHECK(call.group.empty());
  CHECK(call.names.patterns == Names{"ext4_*", "jbd2_*"});
  CHECK(call.names.left_out == Names{"ext4_da_*"});
  CHECK(call.names.has("ext4_sync"));
  CHECK(call.names.has("jbd2_log"));
  CHECK_FALSE(call.names.has("ext4_da_get"));
  CHECK_FALSE(call.names.has("xfs_read"));
  CHECK_FALSE(call.names.is_one_name());
  CHECK(made("call:vfs_read").place.names.is_one_name());
  CHECK(made("call:ext4:*").place.group == "ext4");

  CHECK(made("fn:vfs_read").place.point == Place::Point::both);
  CHECK(made("fn:vfs_read:entry").place.point == Place::Point::entry);
  const Place exit = made("fn:ext4:*:exit").place;
  CHECK(exit.group == "ext4");
  CHECK(exit.names.patterns == Names{"*"});
  CHECK(exit.point == Place::Point::exit);

  const Place event = made("tp:block:block_rq_*").place;
  CHECK(event.kind == Place::Kind::tracepoint);
  CHECK(event.group == "block");
  CHECK(made("call:openat").place.is_system_call == false);
  const Place of_system = made("sys:*at,!openat").place;
  CHECK(of_system.kind == Place::Kind::call);
  CHECK(of_system.is_system_call);
  CHECK(of_system.names.patterns == Names{"__x64_sys_*at"});
  CHECK(of_system.names.left_out == Names{"__x64_sys_openat"});
  const Place at = made("at:vfs_read+0x1c").place;
  CHECK(at.kind == Place::Kind::instruction);
  CHECK(at.number == 0x1c);
  const Place block = made("block:kernel_clone:7").place;
  CHECK(block.kind == Place::Kind::block);
  CHECK(block.names.patterns == Names{"kernel_clone"});
  CHECK(block.number == 7);
  CHECK_FALSE(block.is_every);
  CHECK(made("block:kernel_clone:7").action.records());
  const Place last = made("block:ext4:ext4_*:0:exit").place;
  CHECK(last.group == "ext4");
  CHECK(last.names.patterns == Names{"ext4_*"});
  CHECK(last.point == Place::Point::exit);
  CHECK(made("block:vfs_read:*").place.is_every);
  CHECK(made("block:vfs_read:*").action.kind == Action::Kind::count);
  CHECK(made("block:vfs_read:*(regs.di)").action.records());
  CHECK(made("block:vfs_read:* do record").action.records());
  const Place edge = made("edge:vfs_read:3-17").place;
  CHECK(edge.kind == Place::Kind::edge);
  CHECK(edge.number == 3);
  CHECK(edge.to == 17);
  const Place line = made("line:fs/read_write.c:450").place;
  CHECK(line.kind == Place::Kind::line);
  CHECK(line.names.patterns == Names{"fs/read_write.c"});
  CHECK(line.number == 450);
  CHECK(made("mod:my_driver:*").place.group == "my_driver");
  const Place user = made("user:/opt/a:b/x:func").place;
  CHECK(user.group == "/opt/a:b/x");
  CHECK(user.names.patterns == Names{"func"});
  const Place library = made("user:libc.so.6:mallo?:entry").place;
  CHECK(library.group == "libc.so.6");
  CHECK(library.names.patterns == Names{"mallo?"});
  CHECK(library.point == Place::Point::entry);
  CHECK(made("user:libc.so.6:exit").place.names.patterns == Names{"exit"});
  CHECK(made("user:/x:f").place.point == Place::Point::entry);
  CHECK(made("user:/x:f:exit").place.point == Place::Point::exit);
  const Place whole = made("user:/x:f,g:call").place;
  CHECK(whole.is_call());
  CHECK(whole.names.patterns == Names{"f", "g"});
  CHECK(made("user:/x:call").place.names.patterns == Names{"call"});
  CHECK(!made("user:/x:call").place.is_call());
  CHECK(made("call:vfs_read").place.is_call());
  const Place probe = made("usdt:/opt/a:b/x:python:gc__*,!gc__done").place;
  CHECK(probe.kind == Place::Kind::user_probe);
  CHECK(probe.group == "/opt/a:b/x");
  CHECK(probe.provider == "python");
  CHECK(probe.names.has("gc__start"));
  CHECK(made("usdt:python3:gc__start").place.provider.empty());
}

TEST_CASE("any name of a program's function can be written") {
  CHECK(made("user:/x:dollar$name,caf\xc3\xa9").place.names.patterns ==
        Names{"dollar$name", "caf\xc3\xa9"});
  const Place place = made(R"(user:/a\ b\(1\)/x:has\ if\ it,with\,comma:exit if pid == 1)").place;
  CHECK(place.group == "/a b(1)/x");
  CHECK(place.names.patterns == Names{"has if it", "with,comma"});
  CHECK(place.point == Place::Point::exit);
  CHECK(made("user:/x:app::Store<int>::find:call").place.names.patterns ==
        Names{"app::Store<int>::find"});
  for (const char* name :
       {"_ZN$LT$u20$as$GT$2eq17hE", "dollar$name", "go.pkg.(*T).Method", "has space",
        "has as if do", "with,comma", "with:colon", "a:::b", "caf\xc3\xa9", "!not", "a\"b'c",
        "back\\slash", "end\\", "f<int>", "a*b?c", "[x]{y}|&;~^%@#", "do"}) {
    INFO(name);
    for (const char* rest : {"", ":exit", " if pid == 1", "(arg1) do count"}) {
      CHECK(made("user:/x:" + typed_name(name) + rest).place.names.has(name));
    }
  }
  CHECK(text_refusal("user:/x:a\"b") ==
        "column 10: \"\"\" in the name of a function is written \"\\\"\"");
}

TEST_CASE("values, condition and action") {
  const Instrument whole = made(
      "call:vfs_read(file.f_path.dentry->d_name.name, table[3].next:number) ret.x:string "
      "if duration > 1ms && (count >= 4096 || inside_B) do histogram(duration, by task)");
  REQUIRE(whole.values.size() == 3);
  CHECK(whole.values[0].path.text() == "file.f_path.dentry.d_name.name");
  CHECK(whole.values[0].form == FetchedValue::Form::by_type);
  CHECK(whole.values[1].path.text() == "table[3].next");
  CHECK(whole.values[1].path.column == 48);
  CHECK(whole.values[1].path.steps[1].column == 57);
  CHECK(whole.values[1].form == FetchedValue::Form::number);
  CHECK(whole.values[2].of_result);
  CHECK(whole.values[2].form == FetchedValue::Form::string);
  REQUIRE(whole.condition);
  CHECK(whole.condition->nodes().size() == 5);
  CHECK(whole.condition->nodes()[2].kind == ExpressionNode::Kind::flag);
  CHECK(whole.condition->nodes()[2].field == "inside_B");
  CHECK(whole.action.kind == Action::Kind::histogram);
  CHECK(whole.action.value.root == "duration");
  CHECK(whole.action.key->root == "task");
  CHECK(whole.action.width.empty());
  const Action linear = made("call:f do histogram(linear(ret, 10us), by cpu)").action;
  CHECK(linear.value.root == "ret");
  CHECK(linear.width == "10us");
  CHECK(linear.key->root == "cpu");
  CHECK(made("call:f do histogram(linear)").action.value.root == "linear");

  const Instrument plain = made("  call:vfs_read  ");
  CHECK(plain.values.empty());
  CHECK_FALSE(plain.condition);
  CHECK(plain.action.kind == Action::Kind::record);
  CHECK(made("call:f if 1/100 && a.b == 1").condition->nodes()[0].value.number == 100);
  CHECK(made("call:f(a)if a == ' do ' do count").action.kind == Action::Kind::count);
  CHECK(made("call:f if a == \"x\"").condition->nodes()[0].value.quoted);
  CHECK_FALSE(made("call:f if ret < count").condition->nodes()[0].value.quoted);
  CHECK(made("fn:A do set inside_A").action.name == "inside_A");
  CHECK(!made("fn:A do set inside_A").action.of_task);
  CHECK(made("fn:A do clear inside_A of task").action.of_task);
  CHECK(made("fn:A do handler mine").action.kind == Action::Kind::handler);
  CHECK(made("fn:A do handler mine").action.name == "mine");
  CHECK(made("call:f(ret) ret").values[0].of_result == false);
}

TEST_CASE("names and forms of values") {
  const Instrument made_so =
      made("call:vfs_read(size=count, f=file:inode, pos:x, dev = a.b:dev) ret");
  REQUIRE(made_so.values.size() == 5);
  CHECK(made_so.values[0].name == "size");
  CHECK(made_so.values[0].path.text() == "count");
  CHECK(made_so.values[1].form == FetchedValue::Form::inode);
  CHECK(made_so.values[2].name.empty());
  CHECK(made_so.values[2].shown_as == "x");
  CHECK(made_so.values[3].shown_as == "dev");
  CHECK(made_so.values[3].path.text() == "a.b");
  CHECK(made_so.values[4].of_result);
  CHECK(text_refusal("call:f(a.b=c)") == "column 8: \"a.b\" is no name: letters, digits and \"_\"");
  CHECK(text_refusal("call:f(a=)") == "column 10: \")\" where what a is should stand");
}

TEST_CASE("a wrong place") {
  const std::string kinds =
      "a place begins with sys:, call:, fn:, tp:, at:, block:, edge:, line:, mod:, user: or usdt:";
  CHECK(text_refusal("") == "column 1: no place: " + kinds);
  CHECK(text_refusal("vfs_read") == "column 1: \"vfs_read\" is no place: " + kinds);
  CHECK(text_refusal(" cal:x") ==
        "column 2: \"cal:x\" is no place: " + kinds + "; did you mean \"call\"?");
  CHECK(text_refusal("call:") == "column 6: the name of a function is missing");
  CHECK(text_refusal("call:a,,b") == "column 8: the name of a function is missing");
  CHECK(text_refusal("call:a-b") == "column 7: \"-\" cannot be in the name of a function");
  CHECK(text_refusal("call:a:b:c") ==
        "column 1: \"call:a:b:c\" is no place: write call:[MODULE:]FUNCTION");
  CHECK(text_refusal("call::b") == "column 6: the name of a module or system is missing");
  CHECK(text_refusal("call:!a") ==
        "column 6: everything is left out: write \"*,\" before it for all but these");
  CHECK(text_refusal("tp:block_rq_issue") ==
        "column 1: \"tp:block_rq_issue\" is no place: write tp:SYSTEM:EVENT");
  CHECK(text_refusal("sys:a:b") == "column 1: \"sys:a:b\" is no place: write sys:NAME");
  CHECK(text_refusal("at:vfs_read") ==
        "column 1: \"at:vfs_read\" is no place: write at:FUNCTION+OFFSET");
  CHECK(text_refusal("at:vfs_*+3") == "column 8: \"*\" cannot be in the name of a function");
  CHECK(text_refusal("at:vfs_read+x") == "column 13: \"x\" is no number (as 28 or 0x1c)");
  CHECK(text_refusal("block:f") ==
        "column 1: \"block:f\" is no place: write block:[MODULE:]FUNCTION:NUMBER[:exit]");
  CHECK(text_refusal("block:f:x") == "column 9: \"x\" is no number (as 28 or 0x1c)");
  CHECK(text_refusal("edge:f:3") ==
        "column 1: \"edge:f:3\" is no place: write edge:[MODULE:]FUNCTION:FROM-TO");
  CHECK(text_refusal("line:a*.c:3").find("cannot be in the name of a source file") !=
        std::string::npos);
  CHECK(text_refusal("user:./x:f") ==
        "column 6: \"./x\" is no name and no path that begins with \"/\"");
  CHECK(text_refusal("user::f") == "column 6: the name of a program or library is missing");
  CHECK(text_refusal("user:x") ==
        "column 1: \"user:x\" is no place: write user:FILE:FUNCTION[:entry|:exit|:call]");
}

TEST_CASE("which end of an asynchronous span events are") {
  const Instrument begin = made("tp:block:block_rq_issue(rq:x, d=dev) as begin request by rq on d");
  REQUIRE(begin.async);
  CHECK(begin.async->begins);
  CHECK(begin.async->kind == "request");
  CHECK(begin.async->match == "rq");
  CHECK(begin.async->lane == "d");
  CHECK(begin.values.size() == 2);
  const Instrument end =
      made("fn:done:entry(as) as end wait by as if as > 3 && task == as do record");
  REQUIRE(end.async);
  CHECK_FALSE(end.async->begins);
  CHECK(end.async->match == "as");
  CHECK(end.async->lane.empty());
  CHECK(end.condition);
  CHECK_FALSE(made("tp:a:b if c == as").async);

  CHECK(text_refusal("tp:a:b as start x by y") ==
        "column 11: \"start\" where \"begin\" or \"end\" should stand");
  CHECK(text_refusal("tp:a:b as begin") ==
        "column 16: the end where a name for what begins should stand");
  CHECK(text_refusal("tp:a:b as end x") ==
        "column 16: \"by\" and a recorded value should stand behind \"x\"");
  CHECK(text_refusal("tp:a:b as end x by") ==
        "column 19: the end where a recorded value's name should stand");
  CHECK(text_refusal("tp:a:b as end x by y in z").starts_with("column 22: only \"on\""));
  CHECK(text_refusal("tp:a:b as end x by y on") ==
        "column 24: the end where a recorded value's name should stand");
  CHECK(text_refusal("tp:a:b as end x by y on z w") ==
        "column 27: \"w\" where \"if\" or \"do\" should stand");
  CHECK(text_refusal("call:f as begin x by y") ==
        "column 8: a call has its begin and its end already");
  CHECK(text_refusal("fn:f as end x by y") ==
        "column 6: the entry and the exit would both be an end: write :entry or :exit behind the "
        "function's name");
  CHECK(text_refusal("tp:a:b as begin x by y do count") ==
        "column 8: only events that are recorded can begin or end something: \"do record\"");
}

TEST_CASE("wrong values, conditions and actions") {
  CHECK(text_refusal("call:f(") == "column 8: the end where an argument's name should stand");
  CHECK(text_refusal("call:f()") == "column 8: \")\" where an argument's name should stand");
  CHECK(text_refusal("call:f(a b)") == "column 10: \"b\" where \",\" or \")\" should stand");
  CHECK(text_refusal("call:f(a..b)") == "column 10: \".\" where a member's name should stand");
  CHECK(text_refusal("call:f(a[x])") == "column 10: an index is a number from 0 to 1048576");
  CHECK(text_refusal("call:f(a[1)") == "column 9: the bracket is never closed");
  CHECK(text_refusal("call:f(1a)") == "column 8: \"1\" where a name should stand");
  CHECK(text_refusal("call:f(a:text)") ==
        "column 10: a value's form is \"string\", \"number\", \"inode\", \"ip6\", \"x\", \"addr\", "
        "\"dev\", \"ip4\" or \"port\"");
  CHECK(text_refusal("call:f rets") ==
        "column 8: \"rets\" where \"ret\", \"as\", \"if\" or \"do\" should stand");
  CHECK(text_refusal("call:f when x") ==
        "column 8: \"when\" where \"(\", \"ret\", \"as\", \"if\" or \"do\" should stand");
  CHECK(text_refusal("call:f if ") ==
        "column 11: the end where a field (as name, cpu, duration) should stand");
  CHECK(text_refusal("call:f if a = 1") ==
        "column 13: \"=\" where an operator (as ==, <, ~) should stand");
  CHECK(text_refusal("call:f if 2/3") == "column 11: \"2/3\" is no chance: 1/1 to 1/65535 are");
  CHECK(text_refusal("call:f if 1/0") == "column 11: \"1/0\" is no chance: 1/1 to 1/65535 are");
  CHECK(text_refusal("call:f do") ==
        "column 10: the end where an action (as record, count) should stand");
  CHECK(text_refusal("call:f do set do") ==
        "column 15: \"do\" begins the action: no flag is called so");
  CHECK(text_refusal("call:f do cuont").ends_with("; did you mean \"count\"?"));
  CHECK(text_refusal("call:f do count 1") == "column 17: \"1\" where the end should stand");
  CHECK(text_refusal("call:f do set") == "column 14: the end where the flag's name should stand");
  CHECK(text_refusal("call:f do histogram") ==
        "column 20: the end where \"(\" and a value (as duration) should stand");
  CHECK(text_refusal("call:f do histogram(a, task)") ==
        "column 24: a key is written \"by KEY\" (as by task)");
  CHECK(text_refusal("call:f do histogram(linear(ret))") ==
        "column 31: \")\" where \",\" and the buckets' width (as 10us) should stand");
  CHECK(text_refusal("call:f do count if a == 1") ==
        "column 17: \"if\" stands behind \"do\": write the condition before the action");
  CHECK(text_refusal("call:f" + std::string(5000, ' '))
            .starts_with("column 4097: the line is too long"));
  std::string many = "call:f(a";
  for (int i = 0; i < 16; i++) many += ",a";
  CHECK(text_refusal(many + ")") == "column 40: too many values: at most 16");
}
