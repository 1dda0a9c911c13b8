// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/argument_words.h"

namespace fkt {
namespace {

constexpr unsigned kRegisters = 6;
constexpr std::uint64_t kLargest = 16;   // bytes that are passed in registers
constexpr unsigned kMaxStructDepth = 8;  // structures in structures

// Returns whether everything in the type is where its own size aligns it. Structures with other
// members (packed ones) are passed on the stack.
bool is_aligned(const Btf& btf, TypeId id, std::uint64_t bit, unsigned depth = 0) {
  const Type type = btf.type(id);
  if (depth == kMaxStructDepth) return false;
  if (type.kind == TypeKind::array) {
    const std::uint64_t stride = btf.type(type.target).bytes * 8;
    for (std::uint32_t i = 0; i < type.count && i < kLargest; i++) {
      if (!is_aligned(btf, type.target, bit + i * stride, depth + 1)) return false;
    }
    return true;
  }
  if (type.kind != TypeKind::structure) return type.bytes != 0 && bit % (type.bytes * 8) == 0;
  for (const std::string& name : btf.members(id)) {
    const std::optional<Member> member = btf.member(id, name);
    if (!member ||
        (member->bits == 0 && !is_aligned(btf, member->type, bit + member->bit, depth + 1)))
      return false;
  }
  return true;
}

bool fits_registers(const Btf& btf, TypeId id, const Type& type) {
  switch (type.kind) {
    case TypeKind::integer:
    case TypeKind::enumeration:
    case TypeKind::pointer:
      return type.bytes <= kLargest;
    case TypeKind::structure:
      return type.bytes <= kLargest && is_aligned(btf, id, 0);
    default:
      return false;
  }
}

}  // namespace

ArgumentLayout lay_out_arguments(const Btf& btf, const Prototype& prototype) {
  ArgumentLayout layout;
  const Type result = btf.type(prototype.result);
  layout.arguments.reserve(prototype.arguments.size());
  unsigned next = 0;
  // The address where a large result belongs is an argument before the first one.
  if (result.kind == TypeKind::structure && !fits_registers(btf, prototype.result, result))
    next = 1;
  for (std::size_t i = 0; i < prototype.arguments.size(); i++) {
    const TypeId id = prototype.arguments[i].type;
    const Type type = btf.type(id);
    ArgumentWords& place = layout.arguments.emplace_back();
    const auto words = static_cast<unsigned>((type.bytes + 7) / 8);
    if (fits_registers(btf, id, type) && next + words <= kRegisters) {
      place = {static_cast<std::uint8_t>(next), static_cast<std::uint8_t>(words)};
      next += words;
    } else if (layout.on_stack.empty()) {
      layout.on_stack =
          "argument " + std::to_string(i + 1) + " (" + btf.name(id) + ") is on the stack";
    }
  }
  if (prototype.is_variadic) layout.on_stack = "the number of its arguments varies";
  return layout;
}

Status may_call_through(const ArgumentLayout& layout) {
  if (layout.on_stack.empty()) return Done{};
  return Error{ErrorCode::usage, layout.on_stack + ", so whole calls cannot be traced"};
}

}  // namespace fkt
