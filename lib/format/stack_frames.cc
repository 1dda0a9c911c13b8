// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/stack_frames.h"

#include <algorithm>

#include "lib/base/text.h"

namespace fkt {

std::span<const std::uint64_t> frames_of(const Field& field, const Event& event,
                                         const Symbols& symbols) {
  std::span<const std::uint64_t> frames(event.words.data(), event.words.size());
  // Word 0 is the argument, which has no frames.
  const std::size_t before = field.word == 0 ? frames.size() : field.word - 1;
  frames = frames.subspan(std::min(before, frames.size()));
  if (field.type == FieldType::ustack || frames.empty()) return frames;
  const Symbol* const first = function_of(field, frames.front(), true, symbols);
  return first != nullptr && first->name.starts_with("__traceiter_") ? frames.subspan(1) : frames;
}

const Symbol* function_of(const Field& field, std::uint64_t address, bool is_innermost,
                          const Symbols& symbols) {
  if (field.type == FieldType::ustack) return nullptr;
  // A function that ends with a call which does not return has its caller's address behind it.
  return symbols.at(is_innermost || address == 0 ? address : address - 1);
}

std::string frame_name(const Field& field, std::uint64_t address, bool is_innermost,
                       const Symbols& symbols) {
  const Symbol* const symbol = function_of(field, address, is_innermost, symbols);
  if (symbol == nullptr) return hex(address);
  std::string name(symbol->name);
  if (address != symbol->address) name += '+' + hex(address - symbol->address);
  if (!symbol->module.empty()) name += " [" + std::string(symbol->module) + ']';
  return name;
}

}  // namespace fkt
