// SPDX-License-Identifier: GPL-2.0-only
// Descriptions of functions and types (BTF), made with libbpf for the structures below, which have
// the shapes of the kernel's: programs that are compiled from them run on the real structures.
#pragma once

#include <bpf/btf.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/instrument/btf.h"

namespace fkt::test {

struct Name {
  std::uint32_t hash, length;
  const unsigned char* name;
};
struct Entry {
  Entry* parent;
  Name d_name;
  char short_name[12];
};
struct Location {
  void* mount;
  Entry* dentry;
};
struct File {
  std::uint16_t mode;
  // 3 bits "kind" at 16, 7 bits "level", signed, at 19, as the description below has them.
  std::uint16_t packed;
  std::int32_t state;  // an enumeration
  Location f_path;
  // In a nameless union:
  std::uint64_t cookie;
  std::int16_t table[4];
  std::uint8_t is_open;  // bool
  char* label;
  std::uint8_t address[6];
  std::uint8_t peer[16] = {};  // a structure in6_addr
};

// What the kernel's functions for system calls get.
struct Registers {
  std::uint64_t r10, r9, r8, dx, si, di;
};

class MadeBtf {
 public:
  MadeBtf();

  Btf read() const;

 private:
  struct Free {
    void operator()(btf* data) const { btf__free(data); }
  };
  using Argument = std::pair<const char*, int>;

  int made(int id);
  int integer(const char* name, std::size_t bytes, int encoding = 0) {
    return made(btf__add_int(data_.get(), name, bytes, encoding));
  }
  int pointer(int to) { return made(btf__add_ptr(data_.get(), to)); }
  int constant(int of) { return made(btf__add_const(data_.get(), of)); }
  int array(int of, std::uint32_t count) {
    return made(btf__add_array(data_.get(), u32_, of, count));
  }
  int structure(const char* name, std::size_t bytes) {
    return made(btf__add_struct(data_.get(), name, static_cast<std::uint32_t>(bytes)));
  }
  void member(const char* name, int type, std::size_t bytes, unsigned bits = 0, unsigned bit = 0);
  void function(const char* name, int result, const std::vector<Argument>& arguments);

  void add_types();

  void add_functions();

  std::unique_ptr<btf, Free> data_;
  int u32_ = 0, int_ = 0, s64_ = 0, u64_ = 0, u16_ = 0, char_ = 0, size_ = 0, void_pointer_ = 0;
  int state_ = 0, file_ = 0, registers_ = 0, unknown_ = 0, pair_ = 0, big_ = 0, packed_ = 0;
};

}  // namespace fkt::test
