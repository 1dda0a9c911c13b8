// SPDX-License-Identifier: GPL-2.0-only
// The kernel's own description of its functions and types (BTF): which arguments a function takes,
// where a structure's members are. Typedefs and qualifiers are skipped everywhere.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/name_index.h"
#include "lib/base/result.h"
#include "lib/instrument/place.h"

struct btf;
struct btf_type;

namespace fkt {

// A type's number; 0 is void.
using TypeId = std::uint32_t;

enum class TypeKind : std::uint8_t {
  none,  // void
  integer,
  enumeration,
  pointer,
  array,
  structure,  // unions, too
  function,
  incomplete,  // a structure that is declared but not defined
  other,       // floating point
};

struct Type {
  TypeKind kind = TypeKind::none;
  bool is_signed = false;
  bool is_bool = false;
  std::uint64_t bytes = 0;
  TypeId target = 0;        // what a pointer points to; an array's elements
  std::uint32_t count = 0;  // of an array's elements; 0: not known
};

struct Member {
  TypeId type = 0;
  std::uint64_t bit = 0;   // where it begins in the structure
  std::uint32_t bits = 0;  // width of a bit field; 0: it is none
};

struct Prototype {
  struct Argument {
    std::string name;  // empty: it has none
    TypeId type = 0;
    std::string declaration{};  // as the kernel shows it; empty: it follows from name and type
  };

  std::string function;
  std::vector<Argument> arguments;
  bool is_variadic = false;
  TypeId result = 0;
  // Of a system call's function: the call's arguments, in the registers that its only argument
  // leads to. Type 0: a pointer into the program's memory, or not known.
  std::optional<std::vector<Argument>> in_registers{};
};

class Btf {
 public:
  // Returns the types of the running kernel, without its modules. Error (io): it describes none.
  static Result<Btf> of_kernel();
  // Returns the types of a loaded module, which may refer to those of `this`, the kernel's. Error
  // (io): it describes none.
  Result<Btf> of_module(const std::string& module) const;
  // Returns the types of an ELF file (vmlinux). Error (io): it describes none.
  static Result<Btf> of_file(const std::string& path);
  // Returns the types in a copy of the bytes of a .BTF section. Error (io): they describe none.
  static Result<Btf> from_bytes(ByteView bytes);
  // Returns a description without any function or type.
  static Btf of_nothing();

  // Returns the prototype of the function. Error (usage): there is no function with this name, or
  // several with different types; (format): its description is damaged.
  Result<Prototype> prototype(std::string_view function) const;
  // Returns the names of the functions in the set, sorted, without duplicates. Of a module: its own
  // only.
  std::vector<std::string> functions(const NameSet& names) const;

  // Resolves typedefs and qualifiers of `id`. A structure that is only declared here is looked up
  // by name.
  Type type(TypeId id) const;
  // Returns 0 if no number's type has this name ("int", "umode_t").
  TypeId number_type(const std::string& name) const;
  // Returns nothing if no structure has this name.
  std::optional<TypeId> structure(const std::string& name) const;
  // Returns nothing if the structure has no such member. Members of nameless structures in it count
  // as its own.
  std::optional<Member> member(TypeId structure, std::string_view name) const;
  std::vector<std::string> members(TypeId structure) const;
  // Returns 0 if there is no enumeration of this name.
  TypeId enumeration(const std::string& name) const;
  // Returns nothing if the enumeration has no such name.
  std::optional<std::int64_t> enumerator(TypeId enumeration, std::string_view name) const;
  std::vector<std::string> enumerators(TypeId enumeration) const;

  // Returns whether the type is a text: an array of characters, a pointer to one, or a pointer to
  // constant ones. A pointer to others may point to bytes of any kind.
  bool is_text(TypeId id) const;
  // Returns whether the type is an array of characters, or a pointer to any.
  bool may_be_text(TypeId id) const;

  // Returns the type's name as in C, without qualifiers: "struct file *".
  std::string name(TypeId id) const;

 private:
  struct Free {
    void operator()(btf* data) const;
  };
  using Data = std::shared_ptr<btf>;

  // State of a search through nameless structures.
  struct Walk {
    unsigned depth = 0, seen = 0;
  };

  Btf(Data data, Data base);
  static Result<Btf> opened(btf* data, Data base, const std::string& what);

  const btf_type* raw(TypeId id) const;
  TypeId skip(TypeId id) const;
  TypeId definition(TypeId id) const;
  template <class See>
  bool for_each_member(TypeId structure, std::uint64_t bit, Walk& walk, See&& see) const;
  bool is_character(TypeId id, bool* is_const) const;
  std::string_view string(std::uint32_t offset) const;
  bool same_prototype(TypeId one, TypeId other) const;

  Data base_;  // outlives `data_`, which refers to it
  Data data_;
  // Functions of this name, by the number of their types.
  struct Function {
    std::string_view name;
    TypeId id = 0;
  };
  auto name_of() const {
    return [this](std::uint32_t i) { return functions_[i].name; };
  }

  std::vector<Function> functions_;  // in the order of their numbers
  NameIndex names_;                  // of functions_
};

}  // namespace fkt
