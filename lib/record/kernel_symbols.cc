// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/kernel_symbols.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

// Link addresses of x86-64 kernels. Symbols below kLinkedMap are offsets of per-CPU variables,
// which are not moved by KASLR.
constexpr std::uint64_t kLinkedMap = 0xffffffff80000000;
constexpr std::uint64_t kLinkedText = 0xffffffff81000000;
constexpr std::size_t kExamples = 3;
constexpr std::string_view kHead = "#\tkaslr_offset=0x";

// Parses "ffffffff81000000 T _text", in kallsyms optionally followed by a tab and "[module]".
std::optional<Symbol> parse_line(std::string_view line) {
  Symbol symbol;
  if (!parse_number(take_until(line, ' '), symbol.address, 16)) return {};
  const std::string_view type = take_until(line, ' ');
  if (type.size() != 1) return {};
  symbol.type = type.front();
  symbol.name = take_until(line, '\t');
  if (line.size() > 2 && line.front() == '[') symbol.module = line.substr(1, line.size() - 2);
  return symbol.name.empty() ? std::nullopt : std::optional(std::move(symbol));
}

// Returns the address at which the kernel's text begins.
std::optional<std::uint64_t> text_begin(const std::vector<Symbol>& symbols) {
  for (const char* name : {"_text", "_stext"}) {
    const auto found = std::ranges::find(symbols, name, &Symbol::name);
    if (found != symbols.end()) return found->address;
  }
  return {};
}

// Returns the difference between running and linked addresses, from a text symbol that both have.
std::optional<std::uint64_t> offset_between(const std::vector<Symbol>& running,
                                            const std::vector<Symbol>& linked) {
  for (const char* name : {"_text", "_stext"}) {
    const auto here = std::ranges::find(running, name, &Symbol::name);
    const auto there = std::ranges::find(linked, name, &Symbol::name);
    if (here != running.end() && there != linked.end()) return here->address - there->address;
  }
  return {};
}

bool is_placeholder(std::string_view text) {
  return text.size() < 1000 && text.find("The real System.map is in") != std::string_view::npos;
}

// Returns the name of the package that a placeholder names, for the message.
std::string placeholder_package(std::string_view text) {
  constexpr std::string_view before = "in the ";
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return "the kernel's -dbg package";
  text.remove_prefix(begin + before.size());
  return "package " + std::string(text.substr(0, text.find(' ')));
}

Result<std::vector<Symbol>> parse_map(const std::string& path, std::string_view text) {
  if (is_placeholder(text)) {
    return Error{ErrorCode::format, path +
                                        ": it is only a placeholder: the real System.map is in " +
                                        placeholder_package(text)};
  }
  std::vector<Symbol> map;
  std::size_t bad = 0;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    std::optional<Symbol> symbol = parse_line(line);
    if (symbol) map.push_back(std::move(*symbol));
    if (!symbol) bad = number;
    return bad == 0;
  });
  if (bad > 0 || map.empty()) {
    return Error{ErrorCode::format,
                 fmt::format("{}: not a System.map: line {} is not \"address type name\"", path,
                             std::max<std::size_t>(bad, 1))};
  }
  return map;
}

}  // namespace

KernelSymbols parse_kallsyms(std::string text) {
  KernelSymbols kernel;
  bool any = false;
  kernel.texts.push_back(std::make_shared<const std::string>(std::move(text)));
  kernel.symbols.reserve(kernel.texts.front()->size() / 40);
  for_each_line(*kernel.texts.front(), [&](std::string_view line, std::size_t) {
    std::optional<Symbol> symbol = parse_line(line);
    if (!symbol) return true;
    any = any || symbol->address != 0;
    kernel.symbols.push_back(std::move(*symbol));
    return true;
  });
  if (!any) {
    kernel.symbols.clear();
    kernel.hidden = true;
    return kernel;
  }
  if (const auto begin = text_begin(kernel.symbols)) kernel.kaslr_offset = *begin - kLinkedText;
  sort_by_address(kernel.symbols);
  return kernel;
}

KernelSymbols parse_symbol_lines(std::string lines) {
  KernelSymbols kernel;
  kernel.texts.push_back(std::make_shared<const std::string>(std::move(lines)));
  kernel.symbols.reserve(kernel.texts.front()->size() / 40);
  for_each_line(*kernel.texts.front(), [&](std::string_view line, std::size_t) {
    if (line.starts_with(kHead)) {
      line.remove_prefix(kHead.size());
      return parse_number(take_until(line, '\t'), kernel.kaslr_offset, 16);
    }
    Symbol symbol;
    const bool has_address = parse_number(take_until(line, '\t'), symbol.address, 16);
    const std::string_view type = take_until(line, '\t');
    if (!has_address || type.size() != 1) return true;
    symbol.type = type.front();
    symbol.name = take_until(line, '\t');
    symbol.module = line;
    kernel.symbols.push_back(symbol);
    return true;
  });
  kernel.hidden = kernel.symbols.empty();
  return kernel;
}

Status merge_system_map(KernelSymbols& kernel, const std::string& path, std::string text) {
  kernel.texts.push_back(std::make_shared<const std::string>(std::move(text)));
  auto map = FKT_TRY(parse_map(path, *kernel.texts.back()));
  if (kernel.hidden) {
    return Error{ErrorCode::io,
                 path + ": it cannot be placed, as the kernel hides its addresses from this user"};
  }
  const auto offset = offset_between(kernel.symbols, map);
  if (!offset) {
    return Error{ErrorCode::format, path + ": it cannot be placed, as it has no _text or _stext"};
  }
  kernel.kaslr_offset = *offset;
  kernel.system_map = path;

  std::unordered_multimap<std::string_view, std::uint64_t> known;
  known.reserve(kernel.symbols.size());
  for (const Symbol& symbol : kernel.symbols) {
    if (symbol.module.empty()) known.emplace(symbol.name, symbol.address);
  }
  std::vector<Symbol> added;
  for (Symbol& symbol : map) {
    if (symbol.address >= kLinkedMap) symbol.address += *offset;
    const auto [first, last] = known.equal_range(symbol.name);
    if (first == last) {
      added.push_back(std::move(symbol));
    } else if (std::none_of(first, last,
                            [&](const auto& entry) { return entry.second == symbol.address; })) {
      ++kernel.contradictions;
      if (kernel.examples.size() < kExamples) kernel.examples.emplace_back(symbol.name);
    }
  }
  kernel.added = added.size();
  kernel.symbols.insert(kernel.symbols.end(), std::make_move_iterator(added.begin()),
                        std::make_move_iterator(added.end()));
  sort_by_address(kernel.symbols);
  return Done{};
}

std::string KernelSymbols::to_lines() const {
  std::string out =
      fmt::format("{}{:x}\tsource={}\tsystem_map={}\tcontradictions={}\n", kHead, kaslr_offset,
                  hidden ? "none" : "kallsyms", system_map, contradictions);
  out.reserve(out.size() + symbols.size() * 48);
  for (const Symbol& symbol : symbols) {
    std::array<char, 16> digits{};
    const auto [end, error] =
        std::to_chars(digits.data(), digits.data() + digits.size(), symbol.address, 16);
    out.append(digits.data(), end);
    out += '\t';
    out += symbol.type;
    out += '\t';
    out += symbol.name;
    out += '\t';
    out += symbol.module;
    out += '\n';
  }
  return out;
}

}  // namespace fkt
