// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lib/base/suggest.h"

namespace fkt {
namespace {

// Limits of walks through types: damaged data may have cycles.
constexpr unsigned kMaxTypeDepth = 32;
constexpr unsigned kMostMembers = 1 << 16;

// libbpf would also write its errors to stderr.
int say_nothing(libbpf_print_level, const char*, va_list) {
  return 0;
}

}  // namespace

void Btf::Free::operator()(btf* data) const {
  btf__free(data);
}

Btf::Btf(Data data, Data base) : base_(std::move(base)), data_(std::move(data)) {
  const TypeId first = base_ ? btf__type_cnt(base_.get()) : 1;
  for (TypeId id = first; id < btf__type_cnt(data_.get()); id++) {
    const btf_type* const t = raw(id);
    if (btf_is_func(t)) functions_.push_back({string(t->name_off), id});
  }
  names_ = NameIndex(static_cast<std::uint32_t>(functions_.size()), name_of());
}

Result<Btf> Btf::opened(btf* data, Data base, const std::string& what) {
  if (data != nullptr) return Btf(Data(data, Free{}), std::move(base));
  return Error{ErrorCode::io, what + ": " + std::strerror(errno)};
}

Result<Btf> Btf::of_kernel() {
  libbpf_set_print(say_nothing);
  return opened(btf__load_vmlinux_btf(), nullptr,
                "/sys/kernel/btf/vmlinux: the kernel does not describe its types");
}

Result<Btf> Btf::of_module(const std::string& module) const {
  libbpf_set_print(say_nothing);
  return opened(
      btf__load_module_btf(module.c_str(), data_.get()), data_,
      "/sys/kernel/btf/" + module + ": the types of module " + module + " are not described");
}

Result<Btf> Btf::of_file(const std::string& path) {
  libbpf_set_print(say_nothing);
  return opened(btf__parse(path.c_str(), nullptr), nullptr, path + ": no types are described here");
}

Result<Btf> Btf::from_bytes(ByteView bytes) {
  libbpf_set_print(say_nothing);
  return opened(btf__new(bytes.data(), static_cast<std::uint32_t>(bytes.size())), nullptr,
                "types are not described");
}

Btf Btf::of_nothing() {
  return Btf(Data(btf__new_empty(), Free{}), nullptr);
}

const btf_type* Btf::raw(TypeId id) const {
  static constexpr btf_type kVoid{};
  const btf_type* const t = btf__type_by_id(data_.get(), id);
  return t == nullptr ? &kVoid : t;
}

std::string_view Btf::string(std::uint32_t offset) const {
  const char* const text = btf__name_by_offset(data_.get(), offset);
  return text == nullptr ? std::string_view() : text;
}

TypeId Btf::skip(TypeId id) const {
  for (unsigned i = 0; i < kMaxTypeDepth; i++) {
    const btf_type* const t = raw(id);
    if (!btf_is_mod(t) && !btf_is_typedef(t)) return id;
    id = t->type;
  }
  return 0;
}

// Returns the type without typedefs and qualifiers; a structure's definition where it is declared.
TypeId Btf::definition(TypeId id) const {
  id = skip(id);
  const btf_type* const t = raw(id);
  const char* const name = btf__name_by_offset(data_.get(), t->name_off);
  if (!btf_is_fwd(t) || name == nullptr) return id;
  const std::uint32_t kind = btf_kflag(t) ? BTF_KIND_UNION : BTF_KIND_STRUCT;
  const std::int32_t found = btf__find_by_name_kind(data_.get(), name, kind);
  return found > 0 ? static_cast<TypeId>(found) : id;
}

std::optional<TypeId> Btf::structure(const std::string& name) const {
  const std::int32_t id = btf__find_by_name_kind(data_.get(), name.c_str(), BTF_KIND_STRUCT);
  return id > 0 ? std::optional(static_cast<TypeId>(id)) : std::nullopt;
}

bool Btf::same_prototype(TypeId one, TypeId other) const {
  const btf_type* const a = raw(raw(one)->type);
  const btf_type* const b = raw(raw(other)->type);
  if (a == b) return true;
  if (!btf_is_func_proto(a) || !btf_is_func_proto(b)) return false;
  if (btf_vlen(a) != btf_vlen(b) || a->type != b->type) return false;
  return std::equal(btf_params(a), btf_params(a) + btf_vlen(a), btf_params(b),
                    [](const btf_param& x, const btf_param& y) {
                      return x.type == y.type && x.name_off == y.name_off;
                    });
}

Result<Prototype> Btf::prototype(std::string_view function) const {
  const std::uint32_t found = names_.first(function, name_of());
  const auto quoted = [&] { return '"' + std::string(function) + '"'; };
  if (found == NameIndex::kNone) {
    return Error{ErrorCode::usage, "no function " + quoted() + " has a description"};
  }
  const TypeId first = functions_[found].id;
  std::size_t count = 0;
  bool is_one = true;
  for (std::uint32_t i = found; i != NameIndex::kNone; i = names_.next(i), count++) {
    is_one = is_one && same_prototype(first, functions_[i].id);
  }
  if (!is_one) {
    return Error{
        ErrorCode::usage,
        std::to_string(count) + " functions with different arguments are called " + quoted()};
  }
  const btf_type* const proto = raw(raw(first)->type);
  if (!btf_is_func_proto(proto)) {
    return Error{ErrorCode::format, "the description of function " + quoted() + " is damaged"};
  }
  Prototype made;
  made.function = function;
  made.result = proto->type;
  made.arguments.reserve(btf_vlen(proto));
  for (std::uint32_t i = 0; i < btf_vlen(proto); i++) {
    const btf_param& param = btf_params(proto)[i];
    // "..." is the last one, without name and type.
    if (i + 1U == btf_vlen(proto) && param.name_off == 0 && param.type == 0) {
      made.is_variadic = true;
    } else {
      made.arguments.push_back({std::string(string(param.name_off)), param.type});
    }
  }
  return made;
}

std::vector<std::string> Btf::functions(const NameSet& names) const {
  std::vector<std::string> found;
  for (const Function& function : functions_) {
    if (names.has(function.name)) found.emplace_back(function.name);
  }
  std::ranges::sort(found);
  // Not std::ranges::unique: the subrange that it returns is more than clang 14 can compile.
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Type Btf::type(TypeId id) const {
  Type made;
  const btf_type* const t = raw(id = definition(id));
  switch (btf_kind(t)) {
    case BTF_KIND_UNKN:
      return made;
    case BTF_KIND_INT:
      made.kind = TypeKind::integer;
      made.bytes = t->size;
      made.is_signed = (btf_int_encoding(t) & BTF_INT_SIGNED) != 0;
      made.is_bool = (btf_int_encoding(t) & BTF_INT_BOOL) != 0;
      return made;
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
      made.kind = TypeKind::enumeration;
      made.bytes = t->size;
      made.is_signed = btf_kflag(t);
      return made;
    case BTF_KIND_PTR:
      made.kind = TypeKind::pointer;
      made.bytes = 8;
      made.target = t->type;
      return made;
    case BTF_KIND_ARRAY:
      made.kind = TypeKind::array;
      made.target = btf_array(t)->type;
      made.count = btf_array(t)->nelems;
      break;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
      made.kind = TypeKind::structure;
      break;
    case BTF_KIND_FUNC_PROTO:
      made.kind = TypeKind::function;
      return made;
    case BTF_KIND_FWD:
      made.kind = TypeKind::incomplete;
      return made;
    default:
      made.kind = TypeKind::other;
      return made;
  }
  const std::int64_t bytes = btf__resolve_size(data_.get(), id);
  made.bytes = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
  return made;
}

// Calls `see` for each member that has a name, in nameless structures too, until it returns false.
// bit: where the structure begins.
template <class See>
bool Btf::for_each_member(TypeId structure, std::uint64_t bit, Walk& walk, See&& see) const {
  const btf_type* const t = raw(definition(structure));
  if (!btf_is_composite(t) || walk.depth == kMaxTypeDepth) return true;
  walk.depth++;
  for (std::uint32_t i = 0; i < btf_vlen(t); i++) {
    if (walk.seen++ == kMostMembers) return false;
    const btf_member& m = btf_members(t)[i];
    const std::uint64_t at = bit + btf_member_bit_offset(t, i);
    const bool goes_on = m.name_off == 0 ? for_each_member(m.type, at, walk, see)
                                         : see(Member{m.type, at, btf_member_bitfield_size(t, i)},
                                               string(m.name_off));
    if (!goes_on) return false;
  }
  walk.depth--;
  return true;
}

std::optional<Member> Btf::member(TypeId structure, std::string_view name) const {
  std::optional<Member> found;
  Walk walk;
  for_each_member(structure, 0, walk, [&](const Member& member, std::string_view own_name) {
    if (own_name != name) return true;
    found = member;
    return false;
  });
  return found;
}

std::vector<std::string> Btf::members(TypeId structure) const {
  std::vector<std::string> names;
  Walk walk;
  for_each_member(structure, 0, walk, [&](const Member&, std::string_view own_name) {
    names.emplace_back(own_name);
    return true;
  });
  return names;
}

TypeId Btf::enumeration(const std::string& name) const {
  for (const std::uint32_t kind : {std::uint32_t{BTF_KIND_ENUM}, std::uint32_t{BTF_KIND_ENUM64}}) {
    const std::int32_t found = btf__find_by_name_kind(data_.get(), name.c_str(), kind);
    if (found > 0) return static_cast<TypeId>(found);
  }
  return 0;
}

TypeId Btf::number_type(const std::string& name) const {
  for (const std::uint32_t kind : {std::uint32_t{BTF_KIND_TYPEDEF}, std::uint32_t{BTF_KIND_INT}}) {
    const std::int32_t found = btf__find_by_name_kind(data_.get(), name.c_str(), kind);
    if (found > 0 && type(static_cast<TypeId>(found)).kind == TypeKind::integer) {
      return static_cast<TypeId>(found);
    }
  }
  return 0;
}

std::optional<std::int64_t> Btf::enumerator(TypeId enumeration, std::string_view name) const {
  const btf_type* const t = raw(skip(enumeration));
  for (std::uint32_t i = 0; btf_is_any_enum(t) && i < btf_vlen(t); i++) {
    if (btf_is_enum(t)) {
      const struct btf_enum& value = btf_enum(t)[i];
      if (string(value.name_off) != name) continue;
      return btf_kflag(t) ? std::int64_t{value.val}
                          : std::int64_t{static_cast<std::uint32_t>(value.val)};
    }
    const struct btf_enum64& value = btf_enum64(t)[i];
    if (string(value.name_off) == name) return static_cast<std::int64_t>(btf_enum64_value(&value));
  }
  return std::nullopt;
}

std::vector<std::string> Btf::enumerators(TypeId enumeration) const {
  std::vector<std::string> names;
  const btf_type* const t = raw(skip(enumeration));
  for (std::uint32_t i = 0; btf_is_any_enum(t) && i < btf_vlen(t); i++) {
    names.emplace_back(
        string(btf_is_enum(t) ? btf_enum(t)[i].name_off : btf_enum64(t)[i].name_off));
  }
  return names;
}

// char, signed char and unsigned char; not what has a name of its own, as u8.
bool Btf::is_character(TypeId id, bool* is_const) const {
  for (unsigned i = 0; i < kMaxTypeDepth; i++) {
    const btf_type* const t = raw(id);
    if (btf_is_int(t)) return t->size == 1 && string(t->name_off).ends_with("char");
    if (!btf_is_mod(t)) return false;
    *is_const |= btf_is_const(t);
    id = t->type;
  }
  return false;
}

bool Btf::is_text(TypeId id) const {
  const Type known = type(id);
  if (known.kind == TypeKind::pointer && type(known.target).kind == TypeKind::array) {
    return is_text(known.target);
  }
  bool is_const = known.kind == TypeKind::array;
  return (known.kind == TypeKind::array || known.kind == TypeKind::pointer) &&
         is_character(known.target, &is_const) && is_const;
}

bool Btf::may_be_text(TypeId id) const {
  const Type known = type(id);
  if (known.kind != TypeKind::array && known.kind != TypeKind::pointer) return false;
  const Type target = type(known.target);
  if (known.kind == TypeKind::pointer && target.kind == TypeKind::array) {
    return may_be_text(known.target);
  }
  return target.kind == TypeKind::none || (target.kind == TypeKind::integer && target.bytes == 1);
}

std::string Btf::name(TypeId id) const {
  std::string behind;
  for (unsigned i = 0; i < kMaxTypeDepth; i++) {
    const btf_type* const t = raw(id);
    const std::string own(string(t->name_off));
    const std::string shown = own.empty() ? "{ ... }" : own;
    switch (btf_kind(t)) {
      case BTF_KIND_UNKN:
        return "void" + behind;
      case BTF_KIND_PTR:
        behind = behind.starts_with('*') ? "*" + behind : " *" + behind;
        break;
      case BTF_KIND_ARRAY:
        behind += "[" + std::to_string(btf_array(t)->nelems) + "]";
        id = btf_array(t)->type;
        continue;
      case BTF_KIND_STRUCT:
        return "struct " + shown + behind;
      case BTF_KIND_UNION:
        return "union " + shown + behind;
      case BTF_KIND_FWD:
        return (btf_kflag(t) ? "union " : "struct ") + shown + behind;
      case BTF_KIND_ENUM:
      case BTF_KIND_ENUM64:
        return "enum " + shown + behind;
      case BTF_KIND_FUNC_PROTO:
        return "function" + behind;
      case BTF_KIND_CONST:
      case BTF_KIND_VOLATILE:
      case BTF_KIND_RESTRICT:
      case BTF_KIND_TYPE_TAG:
        break;
      default:  // integers, typedefs
        return shown + behind;
    }
    id = t->type;
  }
  return "?" + behind;
}

}  // namespace fkt
