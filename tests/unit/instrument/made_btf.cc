// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/instrument/made_btf.h"

namespace fkt::test {

MadeBtf::MadeBtf() : data_(btf__new_empty()) {
  REQUIRE(data_);
  add_types();
  add_functions();
}

Btf MadeBtf::read() const {
  std::uint32_t size = 0;
  const void* const raw = btf__raw_data(data_.get(), &size);
  REQUIRE(raw != nullptr);
  Result<Btf> btf = Btf::from_bytes(std::as_bytes(std::span(static_cast<const char*>(raw), size)));
  INFO((btf ? "" : btf.error().message));
  REQUIRE(btf);
  return std::move(*btf);
}

int MadeBtf::made(int id) {
  REQUIRE(id >= 0);
  return id;
}

void MadeBtf::member(const char* name, int type, std::size_t bytes, unsigned bits, unsigned bit) {
  made(btf__add_field(data_.get(), name, type, static_cast<std::uint32_t>(bytes * 8 + bit), bits));
}

void MadeBtf::function(const char* name, int result, const std::vector<Argument>& arguments) {
  const int proto = made(btf__add_func_proto(data_.get(), result));
  for (const auto& [argument, type] : arguments) {
    made(btf__add_func_param(data_.get(), argument, type));
  }
  made(btf__add_func(data_.get(), name, BTF_FUNC_STATIC, proto));
}

void MadeBtf::add_types() {
  u32_ = integer("unsigned int", 4);
  int_ = integer("int", 4, BTF_INT_SIGNED);
  s64_ = integer("long int", 8, BTF_INT_SIGNED);
  u64_ = integer("long unsigned int", 8);
  u16_ = integer("short unsigned int", 2);
  const int s16 = integer("short int", 2, BTF_INT_SIGNED);
  const int bool_type = integer("_Bool", 1, BTF_INT_BOOL);
  char_ = integer("char", 1, BTF_INT_SIGNED);
  const int uchar = integer("unsigned char", 1);
  const int u8 = made(btf__add_typedef(data_.get(), "u8", uchar));
  void_pointer_ = pointer(0);
  const int label = pointer(char_), text = pointer(constant(uchar));
  state_ = made(btf__add_enum(data_.get(), "file_state", 4));
  made(btf__add_enum_value(data_.get(), "FILE_BROKEN", -1));
  made(btf__add_enum_value(data_.get(), "FILE_CLEAN", 0));
  made(btf__add_enum_value(data_.get(), "FILE_DIRTY", 1));
  size_ = made(btf__add_typedef(data_.get(), "size_t", u64_));

  const int name = structure("qstr", sizeof(Name));
  member("hash", u32_, offsetof(Name, hash));
  member("length", u32_, offsetof(Name, length));
  member("name", text, offsetof(Name, name));
  // The structure that is declared is the one that is defined further on.
  const int declared = made(btf__add_fwd(data_.get(), "dentry", BTF_FWD_STRUCT));
  const int entry_pointer = pointer(declared);
  const int short_name = array(char_, 12);
  structure("dentry", sizeof(Entry));
  member("d_parent", entry_pointer, offsetof(Entry, parent));
  member("d_name", name, offsetof(Entry, d_name));
  member("d_iname", short_name, offsetof(Entry, short_name));
  const int location = structure("path", sizeof(Location));
  member("mnt", void_pointer_, offsetof(Location, mount));
  member("dentry", entry_pointer, offsetof(Location, dentry));
  const int cookie = made(btf__add_union(data_.get(), nullptr, 8));
  member("cookie", u64_, 0);
  member("low", u32_, 0);
  const int table = array(s16, 4), address = array(u8, 6);
  const int bytes = array(u8, 16), numbers = made(btf__add_union(data_.get(), nullptr, 16));
  member("u6_addr8", bytes, 0);
  const int in6_addr = structure("in6_addr", 16);
  member("in6_u", numbers, 0);
  const int file = structure("file", sizeof(File));
  member("mode", u16_, offsetof(File, mode));
  member("kind", u32_, offsetof(File, packed), 3, 0);
  member("level", int_, offsetof(File, packed), 7, 3);
  member("state", state_, offsetof(File, state));
  member("f_path", location, offsetof(File, f_path));
  member(nullptr, cookie, offsetof(File, cookie));
  member("table", table, offsetof(File, table));
  member("is_open", bool_type, offsetof(File, is_open));
  member("label", label, offsetof(File, label));
  member("address", address, offsetof(File, address));
  member("peer", in6_addr, offsetof(File, peer));
  file_ = pointer(constant(file));
  unknown_ = pointer(made(btf__add_fwd(data_.get(), "nowhere", BTF_FWD_STRUCT)));
  const int registers = structure("pt_regs", sizeof(Registers));
  for (const char* const name : {"r10", "r9", "r8", "dx", "si", "di"}) {
    member(name, u64_,
           btf_vlen(btf__type_by_id(data_.get(), static_cast<unsigned>(registers))) * 8);
  }
  registers_ = pointer(constant(registers));
  made(btf__add_typedef(data_.get(), "umode_t", u16_));
  pair_ = structure("pair", 16);
  member("first", u32_, 0);
  member("second", s16, 10);
  const int three = array(u64_, 3);
  big_ = structure("big", 24);
  member("a", three, 0);
  packed_ = structure("packed", 12);
  member("a", u32_, 0);
  member("b", u64_, 4);
}

void MadeBtf::add_functions() {
  // What calls the probes of the tracepoints file_read and file_moved.
  function("__traceiter_file_read", int_,
           {{"__data", void_pointer_}, {"file", file_}, {"count", u32_}, {"state", state_}});
  function("__traceiter_file_moved", int_, {{"__data", void_pointer_}, {"by_value", big_}});
  const std::vector<Argument> read = {
      {"file", file_}, {"buf", pointer(char_)}, {"count", size_}, {"pos", pointer(s64_)}};
  function("vfs_read", s64_, read);
  function("vfs_readv", s64_, read);
  function("do_thing", int_, {{"ms", u16_}, {"delta", int_}, {"state", state_}, {nullptr, u64_}});
  function("done", 0, {});
  function("__x64_sys_openat", s64_, {{"regs", registers_}});
  function("__x64_sys_sync", s64_, {{"regs", registers_}});
  function("print", int_, {{"format", pointer(constant(char_))}, {nullptr, 0}});
  function("take_pair", pair_, {{"first", u32_}, {"two", pair_}, {"last", u32_}});
  function("take_big", 0, {{"one", u32_}, {"big", big_}});
  function("take_packed", 0, {{"packed", packed_}});
  function(
      "take_seven", 0,
      {{"a", u64_}, {"b", u64_}, {"c", u64_}, {"d", u64_}, {"e", u64_}, {"f", u64_}, {"g", u64_}});
  function("take_late_pair", 0,
           {{"a", u64_}, {"b", u64_}, {"c", u64_}, {"d", u64_}, {"e", u64_}, {"two", pair_}});
  function("make_big", big_, {{"number", u64_}});
  function("look", file_, {{"nowhere", unknown_}, {"cpu", u32_}, {"file", file_}});
  function("twins", 0, {{"a", u64_}});
  function("twins", 0, {{"b", u32_}});
  function("same", 0, {{"a", u64_}});
  function("same", 0, {{"a", u64_}});
}

}  // namespace fkt::test
