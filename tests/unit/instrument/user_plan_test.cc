// SPDX-License-Identifier: GPL-2.0-only
// Tests which functions of programs an instrument takes, and runs its program on hits.
#include <fkt/program_run.h>
#include <fkt/user_hit.h>
#include <sys/stat.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <string>

#include "lib/instrument/user_plan.h"
#include "tests/unit/folder.h"
#include "tests/unit/instrument/raw_memory.h"

using namespace fkt;
using namespace fkt::test;

// Functions of this program itself. C linkage: their names are those of the symbols.
extern "C" {
__attribute__((noinline, used)) int fkt_test_first(int x) {
  return x + 1;
}
__attribute__((noinline, used)) int fkt_test_second(int x) {
  return x * 3;
}
// What a probe of this program asks, and the probe, as sys/sdt.h makes them.
__attribute__((section(".probes"), used)) volatile unsigned short fkt_test_asked = 0x5eed;
__attribute__((noinline, used)) void fkt_test_probe(int x) {
  asm volatile(
      "990: nop\n"
      ".pushsection .note.stapsdt,\"\",\"note\"\n"
      ".balign 4\n"
      ".4byte 992f-991f, 994f-993f, 3\n"
      "991: .asciz \"stapsdt\"\n"
      "992: .balign 4\n"
      "993: .8byte 990b, 0, fkt_test_asked\n"
      ".asciz \"fkt\"\n"
      ".asciz \"test\"\n"
      ".asciz \"-4@%0 8@16(%%rsp) 4f@%%xmm0\"\n"
      "994: .balign 4\n"
      ".popsection" ::"r"(x));
}
}

namespace {

const UserFile& this_program() {
  static const Result<UserFile> file = UserFile::open("/proc/self/exe");
  REQUIRE(file);
  return *file;
}

Result<UserPlan> user_plan(const std::string& text, const UserFile& file, std::size_t most = 10) {
  const Result<Instrument> instrument = Instrument::parse(text);
  REQUIRE(instrument);
  return plan_user(*instrument, {.file = file, .shown = "x", .most = most});
}

std::string no_user_plan(const std::string& text, std::size_t most = 10) {
  const Result<UserPlan> plan = user_plan(text, this_program(), most);
  return plan ? "made" : plan.error().message;
}

__u64 without_context(const __u64*, __u32, __u32) {
  return 0;
}

// The words that the program of an instrument on a function emits; nothing: it drops the hit.
std::vector<__u64> user_words(const std::string& values_and_condition,
                              const std::array<__u64, FKT_REGISTERS>& registers) {
  const Result<UserPlan> plan =
      user_plan("user:x:fkt_test_first" + values_and_condition, this_program());
  REQUIRE(plan);
  const fkt_program& program = plan->programs[0].entry.program();
  std::vector<__u64> words(program.words);
  fkt_emitted out{words.data(), 0, 0};
  if (fkt_program_run(&program, registers.data(), &out, read_raw, without_context) !=
      FKT_RUN_KEEP) {
    return {};
  }
  words.resize(out.used);
  return words;
}

struct Returned {
  __u64 result = 0, ticks = 0;
};

// The words of the event of a call of a function; nothing: it is dropped at its entry or its
// return.
std::vector<__u64> call_words(const std::string& values_and_condition,
                              const std::array<__u64, FKT_REGISTERS>& registers,
                              Returned returned) {
  const Result<UserPlan> plan =
      user_plan("user:x:fkt_test_first:call" + values_and_condition, this_program());
  REQUIRE(plan);
  const fkt_program& entry = plan->programs[0].entry.program();
  const fkt_program& exit = plan->programs[0].exit.program();
  REQUIRE(entry.words <= FKT_CALL_KEPT);
  std::vector<__u64> hit(FKT_CALL_FIRST_KEPT + entry.words), words(exit.words);
  hit[FKT_CALL_RESULT] = returned.result;
  hit[FKT_CALL_DURATION] = returned.ticks;
  fkt_emitted out{hit.data() + FKT_CALL_FIRST_KEPT, 0, 0};
  if (fkt_program_run(&entry, registers.data(), &out, read_raw, without_context) != FKT_RUN_KEEP) {
    return {};
  }
  out = {words.data(), 0, 0};
  if (fkt_program_run(&exit, hit.data(), &out, read_raw, without_context) != FKT_RUN_KEEP) {
    return {};
  }
  words.resize(out.used);
  return words;
}

// What the loader's cache has for two libraries, behind `before`.
std::string made_cache(std::string_view before) {
  const std::string texts = std::string("libx.so.1\0/lib/32/libx.so.1\0/lib/64/libx.so.1\0", 46);
  const std::uint32_t at = 48 + 2 * 24;
  const auto put = [](std::string& to, std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) to.append(reinterpret_cast<const char*>(&word), 4);
  };
  std::string cache = "glibc-ld.so.cache1.1";
  put(cache, {2, static_cast<std::uint32_t>(texts.size()), 0, 0, 0, 0, 0});
  put(cache, {0x3, at, at + 10, 0, 0, 0});
  put(cache, {0x303, at, at + 28, 0, 0, 0});
  return std::string(before) + cache + texts;
}

}  // namespace

TEST_CASE("functions of a program are where its code is") {
  const Result<UserPlan> plan = user_plan("user:x:fkt_test_*,!*second,!*probe", this_program());
  REQUIRE(plan);
  REQUIRE(plan->taken.size() == 1);
  CHECK(plan->taken[0].name == "x:fkt_test_first");
  CHECK(plan->programs[0].entry.program().insns == 0);
  std::ifstream file("/proc/self/exe", std::ios::binary);
  file.seekg(static_cast<std::streamoff>(plan->taken[0].offset));
  char code[8];
  REQUIRE(file.read(code, sizeof code));
  CHECK(std::memcmp(code, reinterpret_cast<const void*>(&fkt_test_first), sizeof code) == 0);
  CHECK(user_plan("user:x:fkt_test_first,fkt_test_second", this_program())->taken.size() == 2);
}

TEST_CASE("functions of programs that cannot be recorded") {
  CHECK(no_user_plan("user:x:fkt_test_frist") ==
        "/proc/self/exe has no function \"fkt_test_frist\"; did you mean \"fkt_test_first\"?");
  CHECK(no_user_plan("user:x:fkt_test_nothing_*") ==
        "\"user:x:fkt_test_nothing_*\": no function of /proc/self/exe fits");
  CHECK(no_user_plan("user:x:fkt_test_*st,*t_second", 1) ==
        "\"user:x:fkt_test_*st,*t_second\": 2 functions fit: too many (at most 1)");
  CHECK(no_user_plan("user:x:fkt_test_first(x)")
            .ends_with("column 23: of a program's function only arg1 to arg12 and registers (as "
                       "regs.di) are known"));
  CHECK(no_user_plan("user:x:fkt_test_first(arg13)").find("only arg1") != std::string::npos);
  CHECK(no_user_plan("user:x:fkt_test_first(arg1.next)").find("no members") != std::string::npos);
  CHECK(no_user_plan("user:x:fkt_test_first ret").find("no return value") != std::string::npos);
  CHECK(no_user_plan("user:x:fkt_test_first if duration > 1ms").find("no return value") !=
        std::string::npos);
}

TEST_CASE("a call has its arguments as they were, its result and its duration") {
  std::array<__u64, FKT_REGISTERS> registers{};
  registers[FKT_REGISTER_DI] = 0xffffffff00000005;
  registers[FKT_REGISTER_SI] = 7;
  const Returned returned{0xfffffffe, 5'000'000};
  using Words = std::vector<__u64>;
  CHECK(call_words("(arg1:int, arg2) ret:int", registers, returned) ==
        Words{5, 7, static_cast<__u64>(-2)});
  CHECK(call_words(" ret if ret == 0xfffffffe && arg2 == 7", registers, returned) ==
        Words{0xfffffffe});
  CHECK(call_words(" ret:int if ret < 0 && duration > 4ms", registers, returned).size() == 1);
  CHECK(call_words(" ret:int if ret >= 0", registers, returned).empty());
  CHECK(call_words(" ret if duration > 6ms", registers, returned).empty());
  CHECK(call_words("(arg1) if arg2 != 7", registers, returned).empty());
  CHECK(call_words("(arg1) if arg2 == 7 || duration > 6ms", registers, returned).size() == 1);
  CHECK(call_words("(arg1) if arg2 == 8 || duration > 6ms", registers, returned).empty());
  // What only says a type for the condition is not recorded.
  CHECK(user_plan("user:x:fkt_test_first:exit ret:int if ret < 0 do count", this_program())
            ->programs[0]
            .exit.program()
            .words == 0);
  const Result<UserPlan> several =
      user_plan("user:x:fkt_test_first,*t_second:exit ret", this_program());
  REQUIRE(several);
  REQUIRE(several->programs[0].fields.size() == 1);
  CHECK(several->programs[0].fields[0].name == "ret");
  CHECK(several->taken[0].name == "x:fkt_test_first");
}

TEST_CASE("a function that returns twice has no calls") {
  const Result<std::string> path = find_user_file("libc.so.6", UserPaths::of_system());
  REQUIRE(path);
  const Result<UserFile> libc = UserFile::open(*path);
  REQUIRE(libc);
  CHECK(user_plan("user:x:setjmp", *libc));
  CHECK(user_plan("user:x:setjmp:call", *libc).error().message.find("keeps the address") !=
        std::string::npos);
}

TEST_CASE("a function that chooses another one is not recorded") {
  const Result<std::string> path = find_user_file("libc.so.6", UserPaths::of_system());
  REQUIRE(path);
  const Result<UserFile> libc = UserFile::open(*path);
  REQUIRE(libc);
  const Result<UserPlan> chooses = user_plan("user:libc.so.6:strlen", *libc);
  REQUIRE(!chooses);
  CHECK(chooses.error().message.starts_with("x:strlen: it is an IFUNC"));
  // Programs of old call a plain one of this name.
  CHECK(!user_plan("user:libc.so.6:memcpy", *libc));
  const Result<UserPlan> some = user_plan("user:libc.so.6:mallo?,strlen", *libc);
  REQUIRE(some);
  CHECK(some->taken.size() == 1);
  CHECK(some->left_out.size() == 1);
}

TEST_CASE("values of a user function's entry") {
  const char text[] = "a text that is read from the process";
  const std::uint64_t pair[] = {7, reinterpret_cast<std::uintptr_t>(text)};
  const std::uint64_t stack[] = {0xbad, 107, 108};
  std::array<__u64, FKT_REGISTERS> registers{};
  registers[FKT_REGISTER_DI] = 0xffffffff;
  registers[FKT_REGISTER_SI] = reinterpret_cast<std::uintptr_t>(pair);
  registers[FKT_REGISTER_R9] = 6;
  registers[FKT_REGISTER_SP] = reinterpret_cast<std::uintptr_t>(stack);
  using Words = std::vector<__u64>;
  CHECK(user_words("(arg1, arg6, arg7, arg8, regs.di)", registers) ==
        Words{0xffffffff, 6, 107, 108, 0xffffffff});
  CHECK(user_words("(arg1:int, arg1:uint)", registers)[0] == ~0ULL);
  CHECK(user_words("(n=arg1:uint)", registers) == Words{0xffffffff});
  CHECK(user_words("(arg2[0]:int)", registers) == Words{7});
  const Words string = user_words("(arg2[1]:string)", registers);
  CHECK(std::string(reinterpret_cast<const char*>(string.data())) == text);
  CHECK(user_words("(arg1:int) if arg1 == -1", registers).size() == 1);
  CHECK(user_words("(arg1) if arg1 == -1", registers).empty());
  CHECK(user_words("(arg7) if arg2[0] == 7 && arg2[1] ~ \"a text*\"", registers) == Words{107});
  CHECK(user_words("(arg7) if arg2[1] == \"another\"", registers).empty());
}

TEST_CASE("probes of a program are where its notes say") {
  const Result<UserPlan> plan = user_plan("usdt:x:te*", this_program());
  REQUIRE(plan);
  REQUIRE(plan->taken.size() == 1);
  const UserPlan::Taken& taken = plan->taken[0];
  CHECK(taken.name == "x:test");
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto byte_at = [&](std::uint64_t offset) {
    file.seekg(static_cast<std::streamoff>(offset));
    return file.get();
  };
  CHECK(byte_at(taken.offset) == 0x90);
  CHECK(byte_at(taken.counter) == 0xed);
  CHECK(byte_at(taken.counter + 1) == 0x5e);
  // All arguments that are known.
  const CallPrograms& programs = plan->programs[taken.programs];
  REQUIRE(programs.fields.size() == 2);
  CHECK(programs.fields[1].name == "arg2");
  CHECK(programs.entry.program().words == 2);
  CHECK(programs.exit.program().insns == 0);
  CHECK(user_plan("usdt:x:fkt:test if arg1 > 0", this_program()));
  CHECK(user_plan("usdt:x:test(regs.di, arg2[1]) do stack", this_program()));
  CHECK(no_user_plan("usdt:x:other:*") == "\"usdt:x:other:*\": no probe of /proc/self/exe fits");
  CHECK(no_user_plan("usdt:x:tset") ==
        "/proc/self/exe has no probe \"tset\"; did you mean \"test\"?");
  CHECK(no_user_plan("usdt:x:test(arg4)").find("the probe has arg1 to arg3") != std::string::npos);
  CHECK(no_user_plan("usdt:x:test(arg3)").find("in a form that is not read") != std::string::npos);
  CHECK(no_user_plan("usdt:x:test ret").find("no return value") != std::string::npos);
}

TEST_CASE("arguments of programs' probes") {
  const std::uint32_t memory[] = {0xffffffff, 0x80000001, 3, 4};
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  std::array<__u64, FKT_REGISTERS> registers{};
  registers[FKT_REGISTER_AX] = 0x1122334455667788;
  registers[FKT_REGISTER_BX] = address;
  registers[FKT_REGISTER_R12] = 2;
  const auto value = [&](std::string_view text) {
    const std::vector<UserArgument> arguments = parse_user_arguments(text);
    REQUIRE(arguments.size() == 1);
    REQUIRE(arguments[0].is_known);
    ProgramBuilder builder;
    builder.emit(fetch_of(arguments[0]), 0);
    const Result<ProgramBlock> block = builder.finish(fkt_user_rules());
    REQUIRE(block);
    __u64 word = 0;
    fkt_emitted out{&word, 0, 0};
    CHECK(fkt_program_run(&block->program(), registers.data(), &out, read_raw, without_context) ==
          FKT_RUN_KEEP);
    return word;
  };
  CHECK(value("8@%rax") == 0x1122334455667788);
  CHECK(value("-4@%eax") == 0x55667788);
  CHECK(value("2@%ax") == 0x7788);
  CHECK(value("-1@%al") == static_cast<__u64>(-0x78));
  CHECK(value("1@%ah") == 0x77);
  CHECK(value("4@$-1") == 0xffffffff);
  CHECK(value("-4@$-1") == ~0ULL);
  CHECK(value("-4@$0x10") == 16);
  CHECK(value("-4@(%rbx)") == ~0ULL);
  CHECK(value("4@4(%rbx)") == 0x80000001);
  CHECK(value("-4@4(%rbx)") == 0xffffffff80000001);
  CHECK(value("4@-4(%rbx,%r12,4)") == 0x80000001);
  CHECK(value("4@2(%rbx,%r12)") == 0x80000001);
  registers[FKT_REGISTER_R12] = address / 4;
  CHECK(value("4@" + std::to_string(8 + address % 4) + "(,%r12,4)") == 3);
  for (const char* const unknown : {"8@x(%rip)", "4f@%xmm0", "8@%st", "3@%eax", "8", "@%rax", "8@",
                                    "8@(%rax", "8@()", "8@4(%rax,%rbx,3)", "8@5000000000(%rax)"}) {
    INFO(unknown);
    CHECK(!parse_user_arguments(unknown)[0].is_known);
  }
  CHECK(parse_user_arguments(" 8@%rbp  8@%r12 -4@%eax ").size() == 3);
  CHECK(parse_user_arguments("").empty());
}

TEST_CASE("programs and libraries are found by name") {
  const Folder dir;
  const std::string library = dir.file("libx.so.1"), program = dir.file("prog");
  for (const std::string& path : {library, program}) std::ofstream(path) << "x";
  REQUIRE(::chmod(program.c_str(), 0755) == 0);
  const UserPaths paths{"/none::" + dir.file(""), "", {"/none", dir.file("")}};
  CHECK(*find_user_file("/any/path", paths) == "/any/path");
  CHECK(find_user_file("prog", paths)->ends_with("/prog"));
  CHECK(find_user_file("libx.so.1", paths)->ends_with("/libx.so.1"));
  CHECK(find_user_file("porg", paths).error().message ==
        "porg: no program of this name is in $PATH; write its path");
  CHECK(find_user_file("liby.so.1", paths).error().message ==
        "liby.so.1: the loader finds no library of this name; write its path");
  // Neither a program nor a library.
  CHECK(UserFile::open(program).error().message == program + ": no program or library");
  CHECK(UserFile::open(dir.file("")).error().message.ends_with("no regular file"));
}

TEST_CASE("the loader's cache") {
  for (const std::string_view before : {"", "ld.so-1.7.0 and what was of old"}) {
    const std::string cache = made_cache(before);
    CHECK(find_in_cache(cache, "libx.so.1") == "/lib/64/libx.so.1");
    CHECK(find_in_cache(cache, "libx.so").empty());
    for (std::size_t bytes = 0; bytes < cache.size(); bytes++) {
      const std::string found =
          find_in_cache(std::string_view(cache).substr(0, bytes), "libx.so.1");
      CHECK(std::string_view("/lib/64/libx.so.1").starts_with(found));
    }
  }
}

TEST_CASE("whether C++ exceptions may pass through a file's functions") {
  CHECK(this_program().has_exceptions());
  const Result<std::string> libc = find_user_file("libc.so.6", UserPaths::of_system());
  REQUIRE(libc);
  // Its tables are for threads that are cancelled.
  const Result<UserFile> without = UserFile::open(*libc);
  REQUIRE(without);
  CHECK_FALSE(without->has_exceptions());
}
