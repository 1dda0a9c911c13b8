// SPDX-License-Identifier: GPL-2.0-only
// Tests reading the kernel's description of its types, and the registers of arguments: with a
// description made here, and with that of kernel 6.12 if it was fetched.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "lib/instrument/argument_words.h"
#include "lib/instrument/btf.h"
#include "tests/unit/instrument/made_btf.h"

using namespace fkt;
using namespace fkt::test;

namespace {

using Names = std::vector<std::string>;

NameSet set(Names patterns, Names left_out = {}) {
  return {std::move(patterns), std::move(left_out)};
}

ArgumentLayout layout(const Btf& btf, const char* function) {
  const Result<Prototype> prototype = btf.prototype(function);
  REQUIRE(prototype);
  return lay_out_arguments(btf, *prototype);
}

// "0 1-2 3": the registers of each argument; "-": it has none.
std::string registers(const Btf& btf, const char* function) {
  std::string text;
  for (const ArgumentWords& words : layout(btf, function).arguments) {
    text += (text.empty() ? "" : " ") + (words.words == 0 ? "-" : std::to_string(words.first));
    if (words.words > 1) text += "-" + std::to_string(words.first + words.words - 1);
  }
  return text;
}

}  // namespace

TEST_CASE("functions and their arguments") {
  const Btf btf = MadeBtf().read();
  const Result<Prototype> read = btf.prototype("vfs_read");
  REQUIRE(read);
  REQUIRE(read->arguments.size() == 4);
  CHECK(read->arguments[0].name == "file");
  CHECK(btf.name(read->arguments[0].type) == "struct file *");
  CHECK(btf.name(read->arguments[2].type) == "size_t");
  CHECK(btf.name(read->result) == "long int");
  CHECK_FALSE(read->is_variadic);
  const Result<Prototype> print = btf.prototype("print");
  REQUIRE(print);
  CHECK(print->is_variadic);
  CHECK(print->arguments.size() == 1);
  CHECK(btf.prototype("do_thing")->arguments[3].name.empty());
  CHECK(btf.functions(set({"vfs_*", "done"}, {"*v"})) == Names{"done", "vfs_read"});
  CHECK(btf.prototype("nothing").error().message == "no function \"nothing\" has a description");
  CHECK(btf.prototype("twins").error().message ==
        "2 functions with different arguments are called \"twins\"");
  CHECK(btf.prototype("same"));
}

TEST_CASE("types and members") {
  const Btf btf = MadeBtf().read();
  const Result<Prototype> read = btf.prototype("vfs_read");
  REQUIRE(read);
  const TypeId file = btf.type(read->arguments[0].type).target;
  CHECK(btf.type(file).kind == TypeKind::structure);
  CHECK(btf.type(file).bytes == sizeof(File));
  CHECK(btf.type(read->arguments[2].type).bytes == 8);
  CHECK(btf.member(file, "mode")->bits == 0);
  CHECK(btf.member(file, "level")->bits == 7);
  CHECK(btf.member(file, "level")->bit == offsetof(File, packed) * 8 + 3);
  CHECK(btf.member(file, "low")->bit == offsetof(File, cookie) * 8);
  CHECK_FALSE(btf.member(file, "nothing"));
  CHECK_FALSE(btf.member(read->arguments[2].type, "mode"));
  CHECK(btf.members(file) == Names{"mode", "kind", "level", "state", "f_path", "cookie", "low",
                                   "table", "is_open", "label", "address", "peer"});
  const TypeId state = btf.member(file, "state")->type;
  CHECK(btf.enumerator(state, "FILE_BROKEN") == -1);
  CHECK(btf.enumerator(state, "FILE_DIRTY") == 1);
  CHECK_FALSE(btf.enumerator(state, "FILE"));
  CHECK(btf.enumerators(state) == Names{"FILE_BROKEN", "FILE_CLEAN", "FILE_DIRTY"});
  CHECK(btf.name(btf.member(file, "table")->type) == "short int[4]");
  CHECK(btf.type(btf.member(file, "table")->type).bytes == 8);

  const TypeId dentry =
      btf.type(btf.member(btf.member(file, "f_path")->type, "dentry")->type).target;
  CHECK(btf.type(dentry).kind == TypeKind::structure);  // only declared there
  CHECK(btf.is_text(btf.member(dentry, "d_iname")->type));
  CHECK(btf.is_text(btf.member(btf.member(dentry, "d_name")->type, "name")->type));
  CHECK_FALSE(btf.is_text(btf.member(file, "label")->type));
  CHECK(btf.may_be_text(btf.member(file, "label")->type));
  CHECK_FALSE(btf.is_text(btf.member(file, "address")->type));  // u8 is for bytes of any kind
  CHECK_FALSE(btf.may_be_text(btf.member(file, "table")->type));
}

TEST_CASE("arguments in registers and on the stack") {
  const Btf btf = MadeBtf().read();
  CHECK(registers(btf, "vfs_read") == "0 1 2 3");
  CHECK(registers(btf, "take_pair") == "0 1-2 3");
  CHECK(registers(btf, "make_big") == "1");  // the address for the result is before it
  CHECK(layout(btf, "make_big").on_stack.empty());
  CHECK(registers(btf, "take_seven") == "0 1 2 3 4 5 -");
  CHECK(layout(btf, "take_seven").on_stack == "argument 7 (long unsigned int) is on the stack");
  CHECK(registers(btf, "take_late_pair") == "0 1 2 3 4 -");
  CHECK(layout(btf, "take_big").on_stack == "argument 2 (struct big) is on the stack");
  CHECK(layout(btf, "take_packed").on_stack == "argument 1 (struct packed) is on the stack");
  CHECK(layout(btf, "print").on_stack == "the number of its arguments varies");
  CHECK(layout(btf, "done").on_stack.empty());
}

TEST_CASE("what is no description is refused") {
  const std::string text = "no description at all, however long this text may be made";
  CHECK(Btf::from_bytes(std::as_bytes(std::span(text)))
            .error()
            .message.starts_with("types are not described: "));
  CHECK(Btf::of_file("/nowhere/vmlinux")
            .error()
            .message.starts_with("/nowhere/vmlinux: no types are described here: "));
}

// The file is in the headers that the cases in the virtual machine are built with.
TEST_CASE("a real kernel's description") {
  const std::string path = FKT_SOURCE_DIR "/build/vm/6.12/kdir/vmlinux";
  if (!std::filesystem::exists(path)) {
    WARN(path + " is not there: tests/vm/get-kernel fetches it");
    return;
  }
  const Result<Btf> btf = Btf::of_file(path);
  REQUIRE(btf);
  CHECK(registers(*btf, "vfs_read") == "0 1 2 3");
  CHECK(btf->prototype("vfs_read")->arguments[0].name == "file");
  CHECK(layout(*btf, "_printk").on_stack == "the number of its arguments varies");
  std::size_t refused = 0;
  const std::vector<std::string> all = btf->functions(set({"*"}));
  for (const std::string& name : all) {
    const Result<Prototype> prototype = btf->prototype(name);
    refused += !prototype || !lay_out_arguments(*btf, *prototype).on_stack.empty();
  }
  CHECK(all.size() > 30000);
  CHECK(refused > 100);
  CHECK(refused < all.size() / 20);
}
