// SPDX-License-Identifier: GPL-2.0-only
// Tests the programs of instruments on calls. They are run on structures of this process, as the
// kernel runs them at a function's entry and return.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include <fkt/ioctl.h>
#include <fkt/program_run.h>

#include "lib/instrument/call_compiler.h"
#include "lib/instrument/system_call.h"
#include "lib/instrument/value_range.h"
#include "tests/unit/instrument/made_btf.h"
#include "tests/unit/instrument/raw_memory.h"

using namespace fkt;
using namespace fkt::test;

namespace {

// "other" and "inside" are flags of the recording, "mine" is one of each task.
FlagNames some_flags() {
  FlagNames flags;
  for (const char* const action : {"set other", "clear inside", "set mine of task"}) {
    const Result<Action> parsed = parse_action(action, 1);
    REQUIRE(parsed);
    REQUIRE(flags.add(*parsed));
  }
  return flags;
}

std::map<std::uint32_t, std::uint64_t> contexts;  // of the task that calls

__u64 context_of(const __u64*, __u32 which, __u32 parameter) {
  if (which == FKT_CONTEXT_FLAG || which == FKT_CONTEXT_TASK_FLAG)
    return contexts[which] >> parameter & 1;
  return contexts[which];
}

Result<CallPrograms> compiled(const std::string& text) {
  static const Btf btf = MadeBtf().read();
  const Result<Instrument> instrument = Instrument::parse(text);
  if (!instrument) return instrument.error();
  const Result<Prototype> function = btf.prototype(instrument->place.names.patterns[0]);
  if (!function) return function.error();
  return compile_call(*instrument, *function, {btf, 1e9, some_flags()});
}

std::string by_probe_refusal(const std::string& text) {
  static const Btf btf = MadeBtf().read();
  const Result<Instrument> instrument = Instrument::parse(text);
  REQUIRE(instrument);
  const Result<Prototype> function = btf.prototype(instrument->place.names.patterns[0]);
  REQUIRE(function);
  const Result<CallPrograms> programs =
      compile_call(*instrument, *function, {btf, 1e9, some_flags(), true});
  return programs ? "made" : programs.error().message;
}

std::string call_refusal(const std::string& text) {
  const Result<CallPrograms> programs = compiled(text);
  return programs ? "made" : programs.error().message;
}

struct Call {
  std::vector<std::uint64_t> arguments;
  std::uint64_t result = 0, duration = 0, cputime = 0, depth = 1;
};

struct Traced {
  std::string what;  // "dropped at entry", "dropped at exit", "kept", "fault at ..."
  std::vector<std::uint64_t> words;
};

fkt_run run(const ProgramBlock& block, std::vector<__u64> hit, std::vector<__u64>& words) {
  const fkt_program& program = block.program();
  words.assign(program.words, 0);
  fkt_emitted out = {words.data(), 0, 0};
  const fkt_run result = fkt_program_run(&program, hit.data(), &out, read_raw, context_of);
  if (result == FKT_RUN_KEEP) CHECK(out.used == program.words);
  return result;
}

// A register of which only the lower half is the argument has anything in its upper half.
std::uint64_t dirty(std::int64_t value) {
  return 0xabcd000000000000 | (static_cast<std::uint64_t>(value) & 0xffffffff);
}

Traced traced(const CallPrograms& programs, const Call& call) {
  std::vector<__u64> kept, words, hit(call.arguments.begin(), call.arguments.end());
  hit.resize(FKT_CALL_ARGUMENTS);
  fkt_run result = run(programs.entry, hit, kept);
  if (result != FKT_RUN_KEEP) {
    return {result == FKT_RUN_DROP ? "dropped at entry" : "fault at entry", {}};
  }
  hit = {call.result, 0, call.duration, call.cputime, call.depth};
  hit.insert(hit.end(), kept.begin(), kept.end());
  result = run(programs.exit, hit, words);
  if (result != FKT_RUN_KEEP) {
    return {result == FKT_RUN_DROP ? "dropped at exit" : "fault at exit", {}};
  }
  return {"kept", {words.begin(), words.end()}};
}

Traced traced(const std::string& text, const Call& call) {
  const Result<CallPrograms> programs = compiled(text);
  INFO(text << ": " << (programs ? "" : programs.error().message));
  REQUIRE(programs);
  return traced(*programs, call);
}

struct Files {
  Entry root{nullptr, {7, 1, reinterpret_cast<const unsigned char*>("/")}, "/"};
  Entry entry{&root, {0x1234, 6, reinterpret_cast<const unsigned char*>("passwd")}, "passwd"};
  char label[8] = "a label";
  File file{0x8180, 0b0'1111110'101,   -1, {nullptr, &entry}, 0x1122334455667788, {1, -2, 3, -4}, 1,
            label,  {1, 2, 3, 4, 5, 6}};

  // vfs_read(&file, buf, count, pos)
  Call read(std::uint64_t count, std::int64_t result, std::uint64_t duration = 0) {
    return {{reinterpret_cast<std::uint64_t>(&file), 0xbad, count, 0xbad},
            static_cast<std::uint64_t>(result),
            duration};
  }
};

std::string kept_if(const std::string& condition, const Call& call) {
  return traced("call:vfs_read if " + condition, call).what;
}

std::string text_in(const std::vector<std::uint64_t>& words, const RecordedField& field) {
  std::string text(field.words * 8, '\0');
  std::memcpy(text.data(), words.data() + field.first_word, text.size());
  return text.c_str();
}

}  // namespace

TEST_CASE("values of arguments and the result are recorded") {
  Files files;
  const Result<CallPrograms> programs = compiled(
      "call:vfs_read(file.f_path.dentry.d_name.name, count, file.mode, file->kind, file.level, "
      "file.table[1], file.state, file.low, file.f_path.dentry.d_parent.d_iname, "
      "file.label:string, "
      "file.is_open, file) ret");
  REQUIRE(programs);
  const Traced outcome = traced(*programs, files.read(4096, -14));
  REQUIRE(outcome.what == "kept");
  std::map<std::string, RecordedField> fields;
  for (const RecordedField& field : programs->fields) fields[field.name] = field;
  const auto value = [&](const char* name) {
    REQUIRE(fields.contains(name));
    CHECK(fields[name].words == 1);
    return static_cast<std::int64_t>(outcome.words[fields[name].first_word]);
  };
  CHECK(text_in(outcome.words, fields["file.f_path.dentry.d_name.name"]) == "passwd");
  CHECK(text_in(outcome.words, fields["file.f_path.dentry.d_parent.d_iname"]) == "/");
  CHECK(text_in(outcome.words, fields["file.label"]) == "a label");
  CHECK(value("count") == 4096);
  CHECK(value("file.mode") == 0x8180);
  CHECK(value("file.kind") == 5);
  CHECK(value("file.level") == -2);
  CHECK(value("file.table[1]") == -2);
  CHECK(value("file.state") == -1);
  CHECK(value("file.low") == 0x55667788);
  CHECK(value("file.is_open") == 1);
  CHECK(value("file") == static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(&files.file)));
  CHECK(value("ret") == -14);
  CHECK(fields["file"].kind == RecordedField::Kind::address);
  CHECK(fields["ret"].kind == RecordedField::Kind::signed_number);
  CHECK(fields["count"].kind == RecordedField::Kind::number);
  CHECK(fields["file.label"].kind == RecordedField::Kind::text);
  // Words of the event are in the order of the fields, without holes.
  std::uint16_t next = 0;
  for (const RecordedField& field : programs->fields) {
    CHECK(field.first_word == next);
    next = static_cast<std::uint16_t>(next + field.words);
  }
  CHECK(next == outcome.words.size());
}

TEST_CASE("what an argument points to is read at the entry") {
  Files files;
  const Result<CallPrograms> programs =
      compiled("call:vfs_read(file.mode) if file.cookie == 5 || ret == 0");
  REQUIRE(programs);
  std::vector<__u64> kept, words;
  files.file.cookie = 5;
  REQUIRE(run(programs->entry, {reinterpret_cast<std::uint64_t>(&files.file), 0, 0, 0, 0, 0},
              kept) == FKT_RUN_KEEP);
  // The function releases the file.
  std::memset(static_cast<void*>(&files.file), 0x6b, sizeof files.file);
  std::vector<__u64> hit(FKT_CALL_FIRST_KEPT);
  hit[FKT_CALL_RESULT] = 1;
  hit.insert(hit.end(), kept.begin(), kept.end());
  CHECK(run(programs->exit, hit, words) == FKT_RUN_KEEP);
  CHECK(words == std::vector<__u64>{0x8180});
}

TEST_CASE("the file that an argument leads to") {
  Files files;
  contexts = {{FKT_CONTEXT_FILE, 4711}};
  const Traced read = traced("call:vfs_read(ino=file:inode, count) ret", files.read(512, 100));
  CHECK(read.what == "kept");
  CHECK(read.words == std::vector<std::uint64_t>{4711, 512, 100});
  const Result<CallPrograms> programs = compiled("call:vfs_read(ino=file:inode)");
  REQUIRE(programs);
  CHECK(programs->fields[0].name == "ino");
  const fkt_insn& insn = programs->entry.program().insn[0];
  CHECK(insn.how == FKT_FROM_CONTEXT);
  CHECK(insn.index == FKT_CONTEXT_FILE);
  CHECK(insn.size == FKT_FILE_PARAMETER(0, FKT_FILE_OF_FILE));
  CHECK(call_refusal("call:vfs_read(count:inode)").starts_with("column 15: count is "));
  CHECK(call_refusal("call:vfs_read(file.f_path:inode)").starts_with("column 15: "));
  contexts.clear();
}

TEST_CASE("an address of IP version 6 is two words") {
  Files files;
  for (std::uint8_t i = 0; i < 16; i++) files.file.peer[i] = i;
  const std::string text = "call:vfs_read(count, from=file.peer:ip6) ret";
  const Traced read = traced(text, files.read(512, 100));
  CHECK(read.what == "kept");
  CHECK(read.words == std::vector<std::uint64_t>{512, 0x0706050403020100, 0x0f0e0d0c0b0a0908, 100});
  const Result<CallPrograms> programs = compiled(text);
  REQUIRE(programs);
  CHECK(programs->fields[1].name == "from");
  CHECK(programs->fields[1].kind == RecordedField::Kind::ip6);
  CHECK(programs->fields[1].first_word == 1);
  CHECK(programs->fields[1].words == 2);
  CHECK(programs->fields[2].first_word == 3);
  CHECK(call_refusal("call:vfs_read(file.f_path:ip6)").starts_with("column 15: "));
  CHECK(call_refusal("call:vfs_read(count:ip6)").starts_with("column 15: "));
}

TEST_CASE("a histogram's program emits the value and then the key") {
  Files files;
  const auto measured = [&](const char* action) {
    const Result<CallPrograms> programs = compiled(std::string("call:vfs_read do ") + action);
    INFO(action << ": " << (programs ? "" : programs.error().message));
    REQUIRE(programs);
    REQUIRE(programs->measured);
    CHECK(programs->fields.empty());
    return std::pair(*programs->measured, traced(*programs, files.read(4096, -14, 77)).words);
  };
  // The value is known at the return, the key at the entry; and the other way round.
  const auto [time, late] = measured("histogram(duration, by file.f_path.dentry.d_name.name)");
  CHECK(time.is_time);
  CHECK(time.value.name == "duration");
  REQUIRE(time.key);
  CHECK(time.key->words == FKT_HISTOGRAM_KEY_WORDS);
  REQUIRE(late.size() == 1 + FKT_HISTOGRAM_KEY_WORDS);
  CHECK(late[0] == 77);
  CHECK(text_in(late, *time.key) == "passwd");
  const auto [size, early] = measured("histogram(count, by ret)");
  CHECK_FALSE(size.is_time);
  CHECK(size.key->kind == RecordedField::Kind::signed_number);
  CHECK(early == std::vector<std::uint64_t>{4096, std::uint64_t(-14)});
  const auto [alone, one] = measured("histogram(linear(ret, 10))");
  CHECK_FALSE(alone.key);
  CHECK(alone.value.kind == RecordedField::Kind::signed_number);
  CHECK(one == std::vector<std::uint64_t>{std::uint64_t(-14)});
  CHECK(call_refusal("call:vfs_read do histogram(file.f_path.dentry.d_name.name)") ==
        "column 28: file.f_path.dentry.d_name.name is a text, and no value");
}

TEST_CASE("conditions on arguments are decided at the entry") {
  Files files;
  const Call call = files.read(4096, 100);
  CHECK(kept_if("count >= 4096", call) == "kept");
  CHECK(kept_if("count > 4096", call) == "dropped at entry");
  CHECK(kept_if("count == 4096 && file.mode != 0x8180", call) == "dropped at entry");
  CHECK(kept_if("count == 1 || file.mode == 0x8180", call) == "kept");
  CHECK(kept_if("!(count == 1 || file.mode == 0x8180)", call) == "dropped at entry");
  CHECK(kept_if("!(count == 1 || !(file.mode == 0x8180 && arg3 < 5000))", call) == "kept");
  CHECK(kept_if("file.f_path.dentry.d_name.name ~ \"pass*\"", call) == "kept");
  CHECK(kept_if("file.f_path.dentry.d_name.name !~ \"pass*\"", call) == "dropped at entry");
  CHECK(kept_if("file.f_path.dentry.d_name.name == passwd", call) == "kept");
  CHECK(kept_if("file.f_path.dentry.d_name.name != passwd", call) == "dropped at entry");
  CHECK(kept_if("!(file.f_path.dentry.d_iname == passwd)", call) == "dropped at entry");
  CHECK(kept_if("file.label == \"a label\"", call) == "kept");
  CHECK(kept_if("file.f_path.mnt == 0", call) == "kept");
  CHECK(kept_if("file.f_path.dentry.d_name.name != 0", call) == "kept");
  CHECK(kept_if("file.f_path.dentry.d_parent.d_parent.d_name.hash == 1", call) == "fault at entry");
  files.file.f_path.mount = &files.root;
  CHECK(kept_if("file.f_path.mnt{dentry}.d_name.hash == 7", call) == "kept");
  CHECK(kept_if("file.f_path.mnt{dentry}->d_name.hash == 8", call) == "dropped at entry");
  CHECK(kept_if("file.state == FILE_BROKEN", call) == "kept");
  CHECK(kept_if("file.state > FILE_CLEAN", call) == "dropped at entry");
  CHECK(kept_if("file.is_open == true", call) == "kept");
  CHECK(kept_if("file.level == -2 && file.kind == 5 && file.table[3] < -3", call) == "kept");
  CHECK(kept_if("file.address[5] == 6", call) == "kept");
  CHECK(kept_if("count > file.mode", call) == "dropped at entry");
  CHECK(kept_if("count <= file.mode", call) == "kept");
  CHECK(kept_if("file.table[1] < count", call) == "kept");  // -2 is less, as people count
}

TEST_CASE("bits of arguments are tested at the entry") {
  Files files;
  const Call call = files.read(0x14, 1);
  CHECK(kept_if("count & 4", call) == "kept");
  CHECK(kept_if("count & 0x18", call) == "kept");
  CHECK(kept_if("count & 3", call) == "dropped at entry");
  CHECK(kept_if("!(count & 3) && count & 16", call) == "kept");
  CHECK(kept_if("!(count & 4)", call) == "dropped at entry");
  CHECK(call_refusal("call:vfs_read if count & 0") ==
        "column 26: & takes a number that is not 0, and no time: as flags & 0x6");
  CHECK(call_refusal("call:vfs_read if duration & 3us").find("no time") != std::string::npos);
}

TEST_CASE("conditions on result and duration are decided at the return") {
  Files files;
  CHECK(kept_if("ret == -EFAULT", files.read(1, -14)) == "kept");
  CHECK(kept_if("ret < 0", files.read(1, 5)) == "dropped at exit");
  CHECK(kept_if("duration > 1ms", files.read(1, 0, 1000001)) == "kept");
  CHECK(kept_if("duration > 1ms", files.read(1, 0, 1000000)) == "dropped at exit");
  CHECK(kept_if("duration > 1ms && count > 10", files.read(1, 0, 2000000)) == "dropped at entry");
  CHECK(kept_if("duration > 1ms && count > 10", files.read(11, 0, 1)) == "dropped at exit");
  CHECK(kept_if("duration > 1ms && count > 10", files.read(11, 0, 2000000)) == "kept");
  CHECK(kept_if("duration > 1ms || count > 10", files.read(11, 0, 1)) == "kept");
  CHECK(kept_if("duration > 1ms || count > 10", files.read(1, 0, 2000000)) == "kept");
  CHECK(kept_if("duration > 1ms || count > 10", files.read(1, 0, 1)) == "dropped at exit");
  CHECK(kept_if("!(duration > 1ms || (count > 10 && file.kind == 5))", files.read(11, 0, 1)) ==
        "dropped at exit");
  CHECK(kept_if("ret < count && ret > 0", files.read(4096, 100)) == "kept");
  CHECK(kept_if("ret < count && ret > 0", files.read(100, 100)) == "dropped at exit");
  CHECK(kept_if("ret < count || (ret == count && count == 5)", files.read(5, 5)) == "kept");
  CHECK(kept_if("ret < count || (ret == count && count == 5)", files.read(6, 6)) ==
        "dropped at exit");
  CHECK(kept_if("ret < count", files.read(1, -14)) == "kept");
  CHECK(compiled("call:vfs_read if duration > 1ms")->limits.shortest == 1000001);
  CHECK(compiled("call:vfs_read if duration >= 1ms && duration < 1s")->limits.shortest == 1000000);
  CHECK(compiled("call:vfs_read if duration > 1ms || ret < 0")->limits.shortest == 0);
  CHECK(compiled("call:vfs_read if duration != 5cycles")->limits.shortest == 0);
  CHECK(compiled("call:vfs_read if pid == 3 && duration > 5cycles")->entry.program().insns == 0);
}

TEST_CASE("conditions on a call's task are decided at the return") {
  Files files;
  Call call = files.read(1, 0, 2000000);
  call.cputime = 500000;
  call.depth = 3;
  CHECK(kept_if("cputime >= 500us", call) == "kept");
  CHECK(kept_if("cputime > 500us", call) == "dropped at exit");
  CHECK(kept_if("cputime < duration && count == 1", call) == "kept");
  CHECK(kept_if("depth <= 3", call) == "kept");
  CHECK(kept_if("depth < 3 || count == 2", call) == "dropped at exit");
  CHECK(call_refusal("call:vfs_read if cputime > 5").find("5 what?") != std::string::npos);
  const Result<CallPrograms> asked = compiled("call:vfs_read if cputime > 1ms && depth == 1");
  REQUIRE(asked);
  CHECK(asked->asks_task);
  CHECK(asked->limits.shortest == 1000001);  // no call is on the CPU for longer than it takes
  CHECK_FALSE(compiled("call:vfs_read if duration > 1ms")->asks_task);
  const Result<CallPrograms> measured = compiled("call:vfs_read do histogram(cputime, by depth)");
  REQUIRE(measured);
  CHECK(measured->asks_task);
  CHECK(measured->measured->is_time);
  CHECK(traced(*measured, call).words == std::vector<std::uint64_t>{500000, 3});
  // A return probe does not know them, an entry has neither, and a path is of an argument.
  CHECK(by_probe_refusal("call:vfs_read if depth == 1") ==
        "a return probe knows neither cputime nor depth");
  CHECK(call_refusal("call:vfs_read if depth.x == 1").find("no argument") != std::string::npos);
}

TEST_CASE("narrow arguments and results are read without what else is in their registers") {
  const auto thing = [](const std::string& condition, std::int64_t ms, std::int64_t delta,
                        std::int64_t result) {
    return traced("call:do_thing if " + condition,
                  {{dirty(ms), dirty(delta), dirty(-1)}, dirty(result), 0})
        .what;
  };
  CHECK(thing("ms == 5", 0x70005, 0, 0) == "kept");
  CHECK(thing("delta == -3", 0, -3, 0) == "kept");
  CHECK(thing("delta >= 0", 0, -3, 0) == "dropped at entry");
  CHECK(thing("ret == -3", 0, 0, -3) == "kept");
  CHECK(thing("state == FILE_BROKEN", 0, 0, 0) == "kept");
  CHECK(thing("arg4 == 0", 0, 0, 0) == "kept");
  // A structure in two registers: first, then 16 bits at byte 10.
  const Call pair = {{1, 2, 0xfffe0000 | 7, 3}, 0, 0};
  CHECK(traced("call:take_pair if two.first == 2 && two.second == -2 && last == 3", pair).what ==
        "kept");
  CHECK(traced("call:take_pair(two.second) ret.second", {{1, 2, 5 << 16, 3}, 0, 0}).words ==
        std::vector<std::uint64_t>{5, 0});
}

TEST_CASE("the task and what it is in") {
  Files files;
  const Call call = files.read(1, 0, 2000);
  const std::string name = "find";
  contexts = {{FKT_CONTEXT_PID, 42},
              {FKT_CONTEXT_CPU, 3},
              {FKT_CONTEXT_LEVEL, FKT_LEVEL_IRQ},
              {FKT_CONTEXT_TASK, reinterpret_cast<std::uint64_t>(name.c_str())},
              {FKT_CONTEXT_FLAG, 2},
              {FKT_CONTEXT_STACK_LEFT, 400}};
  CHECK(kept_if("pid == 42 && cpu == 3", call) == "kept");
  CHECK(kept_if("pid == 42 && cpu == 3 && tid == 42", call) == "dropped at exit");
  CHECK(kept_if("task == find", call) == "kept");
  CHECK(kept_if("task ~ 'f?nd' && count == 2", call) == "dropped at entry");
  CHECK(kept_if("context == irq", call) == "kept");
  CHECK(kept_if("context != irq && count == 1", call) == "dropped at entry");
  CHECK(kept_if("stack_left < 500", call) == "kept");
  CHECK(kept_if("stack_left < 300 && ret == 0", call) == "dropped at entry");
  contexts[FKT_CONTEXT_LOWEST_STACK] = 401;
  CHECK(kept_if("stack_left < lowest_stack", call) == "kept");
  contexts[FKT_CONTEXT_LOWEST_STACK] = 400;
  CHECK(kept_if("stack_left < 500 && stack_left < lowest_stack", call) == "dropped at entry");
  CHECK(kept_if("inside && !other", call) == "kept");
  CHECK(kept_if("!inside", call) == "dropped at exit");
  contexts[FKT_CONTEXT_TASK_FLAG] = 0;
  CHECK(kept_if("mine", call) == "dropped at exit");
  contexts[FKT_CONTEXT_TASK_FLAG] = 1;
  CHECK(kept_if("mine && inside", call) == "kept");
  CHECK(kept_if("1/10", call) == "kept");
  contexts[FKT_CONTEXT_CHANCE] = 1;
  CHECK(kept_if("1/10", call) == "dropped at exit");
  CHECK(kept_if("since_start < 1us", call) == "kept");
  CHECK(traced("call:look if cpu == 3 && arg2 == 9", {{0, 9, 0}, 0, 0}).what == "kept");
  contexts.clear();
}

TEST_CASE("what makes no sense for the function is refused where it stands") {
  CHECK(call_refusal("call:vfs_read(fiel)") ==
        "column 15: vfs_read has no argument \"fiel\"; it has file, buf, count, pos; did you mean "
        "\"file\"?");
  CHECK(call_refusal("call:done(a)") == "column 11: done has no argument \"a\"; it has none");
  CHECK(call_refusal("call:done ret") == "column 11: ret has no value: it is void");
  CHECK(call_refusal("call:vfs_read(file.mod)") ==
        "column 20: struct file has no member \"mod\"; did you mean \"mode\"?");
  CHECK(call_refusal("call:vfs_read(file.f_path.mnt{entry}.x)") ==
        "column 31: no structure is called \"entry\"");
  CHECK(call_refusal("call:vfs_read(count{dentry}.d_name.hash)") ==
        "column 21: count is size_t, no pointer");
  CHECK(call_refusal("call:vfs_read(file.f_path.mnt{.x)") ==
        "column 31: \".\" where a structure's name should stand");
  CHECK(call_refusal("call:vfs_read(count.x)") == "column 21: count has no members: it is size_t");
  CHECK(call_refusal("call:vfs_read(file.kind.x)").ends_with("has no members: it is unsigned int"));
  CHECK(call_refusal("call:vfs_read(file.f_path)") ==
        "column 15: file.f_path is struct path: name one of its members (as .mnt, .dentry)");
  CHECK(call_refusal("call:vfs_read(file.table)") ==
        "column 15: file.table is short int[4]: name one of its elements (as [0])");
  CHECK(call_refusal("call:vfs_read(file.table[4])") ==
        "column 25: file.table is short int[4]: the last element is [3]");
  CHECK(call_refusal("call:vfs_read(file.mode[1])") ==
        "column 24: file.mode is short unsigned int: it has no elements");
  CHECK(call_refusal("call:vfs_read(count:string)") == "column 15: count is size_t, no text");
  CHECK(call_refusal("call:look(nowhere.x)") ==
        "column 19: nowhere is struct nowhere *: what it points to is not described");
  CHECK(call_refusal("call:vfs_read if count == -1") ==
        "column 27: that is never true: count is an unsigned number of 64 bits");
  CHECK(call_refusal("call:vfs_read if file.mode < 65536") ==
        "column 30: that is always true: file.mode is an unsigned number of 16 bits");
  CHECK(call_refusal("call:vfs_read if count > 5ms") == "column 26: count is no time");
  CHECK(call_refusal("call:vfs_read if count ~ \"x\"") ==
        "column 26: count is no text: ~ and !~ are for texts");
  CHECK(call_refusal("call:vfs_read if task < find") ==
        "column 25: task is a text: ==, !=, ~ and !~ are for texts");
  CHECK(call_refusal("call:vfs_read if task == 5") ==
        "column 26: task is a text: write the value in quotation marks");
  CHECK(call_refusal("call:vfs_read if task == 'f*'") ==
        "column 26: only ~ and !~ take * and ? here");
  CHECK(call_refusal("call:vfs_read if file.state == FILE_DIRT") ==
        "column 32: \"FILE_DIRT\" is no value of file.state and no other value; did you mean "
        "\"FILE_DIRTY\"?");
  CHECK(call_refusal("call:vfs_read if context == irqs").ends_with("did you mean \"irq\"?"));
  CHECK(call_refusal("call:vfs_read if insid") ==
        "column 18: no instrument sets a flag \"insid\"; did you mean \"inside\"?");
  CHECK(call_refusal("call:take_seven") ==
        "argument 7 (long unsigned int) is on the stack, so whole calls cannot be traced");
  CHECK(call_refusal("call:vfs_read(file.f_path.dentry.d_iname, file.f_path.dentry.d_name.name, "
                     "file.label:string, file.label:string, file.label:string, file.label:string, "
                     "file.label:string)") ==
        "too long for the kernel: at most 24 words of values (a text has 4)");
  std::string many = "call:vfs_read if task == a0";
  for (int i = 1; i < 9; i++) many += " || task == a" + std::to_string(i);
  CHECK(call_refusal(many) == "too long for the kernel: at most 8 texts");
  many = "call:vfs_read if count == 0";
  for (int i = 1; i < 130; i++) many += " || count == " + std::to_string(i);
  CHECK(call_refusal(many) == "too long for the kernel: at most 128 instructions");
}

TEST_CASE("ranges are what comparisons with constants mean, for every width and sign") {
  const std::int64_t interesting[] = {-129, -128, -127, -2,  -1,  0,   1,
                                      2,    126,  127,  128, 254, 255, 256};
  for (const bool is_signed : {false, true}) {
    for (int c = 0; c <= static_cast<int>(Comparison::greater_equal); c++) {
      const auto comparison = static_cast<Comparison>(c);
      for (const std::int64_t n : interesting) {
        Literal number;
        number.negative = n < 0;
        number.number = static_cast<std::uint64_t>(n < 0 ? -n : n);
        const ValueRange range = range_of(comparison, number, 8, is_signed);
        const int least = is_signed ? -128 : 0;
        for (int value = least; value < least + 256; value++) {
          const auto operand = static_cast<std::uint64_t>(std::int64_t{value});
          bool holds = range.kind == ValueRange::Kind::all;
          if (range.kind == ValueRange::Kind::some) {
            holds = operand - range.first <= range.span;
            const ValueRange others = range.complement();
            CHECK((operand - others.first <= others.span) != holds);
          }
          if (holds != compare(comparison, operand, is_signed, number)) {
            FAIL(value << " " << c << " " << n << " signed " << is_signed);
          }
        }
      }
    }
  }
  Literal most;
  most.number = ~0ULL;
  CHECK(range_of(Comparison::greater, most, 64, false).kind == ValueRange::Kind::none);
  CHECK(range_of(Comparison::less_equal, most, 64, false).kind == ValueRange::Kind::all);
  CHECK(range_of(Comparison::less, most, 64, true).kind == ValueRange::Kind::all);
}

TEST_CASE("a flag is one of the recording or one of each task, and there is an end of them") {
  FlagNames flags = some_flags();
  const auto add = [&](const std::string& text) {
    const Result<Action> action = parse_action(text, 1);
    REQUIRE(action);
    const Status added = flags.add(*action);
    return added ? std::string("added") : added.error().message;
  };
  CHECK(flags.find("inside")->number == 1);
  CHECK(flags.find("mine")->of_task);
  CHECK(flags.find("mine")->number == 0);
  CHECK(!flags.find("yours"));
  CHECK(add("clear mine of task") == "added");
  CHECK(add("count") == "added");
  CHECK(add("clear mine").find("one of the task for some") != std::string::npos);
  CHECK(add("set inside of task").find("one of the task for some") != std::string::npos);
  for (int i = 1; i < FKT_TASK_FLAGS; i++) {
    CHECK(add("set t" + std::to_string(i) + " of task") == "added");
  }
  CHECK(add("set last of task") == "too many flags of tasks (at most 8)");
  for (int i = 2; i < FKT_PROGRAM_FLAGS; i++) CHECK(add("set f" + std::to_string(i)) == "added");
  CHECK(add("set last") == "too many flags (at most 64)");
  CHECK(flags.names().size() == FKT_TASK_FLAGS + FKT_PROGRAM_FLAGS);
}

TEST_CASE("actions with a name have one, and nothing behind it") {
  const auto refused = [](const std::string& text) {
    const Result<Action> action = parse_action(text, 1);
    return action ? "made" : action.error().message;
  };
  CHECK(refused("set x of tasks").find("\"of task\"") != std::string::npos);
  CHECK(refused("set x of").find("\"of task\"") != std::string::npos);
  CHECK(refused("set").find("the flag's name") != std::string::npos);
  CHECK(refused("handler").find("the handler's name") != std::string::npos);
  CHECK(refused("handler x of task") != "made");
  CHECK(refused("handler " + std::string(31, 'x')) == "made");
  CHECK(refused("handler " + std::string(32, 'x')).find("31 characters") != std::string::npos);
  CHECK(refused("stack now") != "made");
}

TEST_CASE("arguments of system calls are read from the program's registers with their types") {
  const Btf btf = MadeBtf().read();
  const Result<Instrument> instrument =
      Instrument::parse("sys:openat(dfd, filename, flags, mode) ret if dfd == -100 && mode < 512");
  REQUIRE(instrument);
  Result<Prototype> function = btf.prototype("__x64_sys_openat");
  REQUIRE(function);
  add_call_arguments(*function,
                     "\tfield:int dfd;\n\tfield:const char * filename;\n\tfield:int flags;\n"
                     "\tfield:umode_t mode;\n",
                     btf);
  const Result<CallPrograms> programs = compile_call(*instrument, *function, {btf, 1e9, {}});
  INFO((programs ? "" : programs.error().message));
  REQUIRE(programs);
  Registers registers{dirty(0644), 1, 2, dirty(0x80000), 0x7ffc12345678, dirty(-100)};
  const Call call{{reinterpret_cast<std::uint64_t>(&registers)}, 3};
  const Traced outcome = traced(*programs, call);
  CHECK(outcome.what == "kept");
  using Words = std::vector<std::uint64_t>;
  CHECK(outcome.words == Words{static_cast<std::uint64_t>(-100), 0x7ffc12345678, 0x80000, 0644, 3});
  registers.di = 3;
  CHECK(traced(*programs, call).what == "dropped at entry");
}
