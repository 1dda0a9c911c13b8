// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/code_image.h"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

namespace fkt {
namespace {

// Entries of the kernel's tables: the first words are distances from their own addresses.
constexpr std::uint64_t kExceptionBytes = 12, kJumpLabelBytes = 16, kStaticCallBytes = 8;
// Bytes of an entry of the table of traps, which kernels were configured and versions differ in;
// its flags are the last two bytes, but of the smallest.
constexpr std::uint64_t kBugBytes[] = {16, 12, 8};
constexpr std::uint16_t kBugIsWarning = 1;
constexpr std::uint64_t kLongestTrap = 8;

// Symbols of the compiler's and linker's, which lie at or before functions.
constexpr std::string_view kNoFunctions[] = {"__pfx_", "__cfi_", "__ksymtab", "__kstrtab",
                                             "__crc_"};

// What lies between two of the kernel's symbols.
struct Marked {
  const char* what;
  std::string_view begin, end;
};
constexpr Marked kMarkedTables[] = {
    {"__ex_table", "__start___ex_table", "__stop___ex_table"},
    {"__jump_table", "__start___jump_table", "__stop___jump_table"},
    {".static_call_sites", "__start_static_call_sites", "__stop_static_call_sites"},
    {"__bug_table", "__start___bug_table", "__stop___bug_table"}};
constexpr Marked kForbidden[] = {
    {"not to be instrumented (noinstr)", "__noinstr_text_start", "__noinstr_text_end"},
    {"the kernel's entry", "__entry_text_start", "__entry_text_end"},
    {"the entry of interrupts", "__irqentry_text_start", "__irqentry_text_end"},
    {"the entry of softirqs", "__softirqentry_text_start", "__softirqentry_text_end"},
    {"a part of kprobes", "__kprobes_text_start", "__kprobes_text_end"},
    {"the CPU's idle state", "__cpuidle_text_start", "__cpuidle_text_end"},
    {"a thunk of indirect jumps", "__indirect_thunk_start", "__indirect_thunk_end"},
    {"a trampoline of static calls", "__static_call_text_start", "__static_call_text_end"},
    {"runs at the machine's start alone", "_sinittext", "_einittext"}};

bool is_function(const Symbol& symbol) {
  return std::string_view("tTwW").find(symbol.type) != std::string_view::npos &&
         std::ranges::none_of(kNoFunctions, [&](std::string_view prefix) {
           return symbol.name.starts_with(prefix);
         });
}

// The word of a table at `address`: a distance from there.
std::uint64_t pointed_by(const CodeImage& image, std::uint64_t address) {
  std::int32_t distance = 0;
  if (!read_at(image.at(address, sizeof distance), 0, distance)) return 0;
  return address + static_cast<std::uint64_t>(std::int64_t{distance});
}

bool is_trap(ByteView code) {
  // ud2, ud1 or ud0 behind prefixes.
  for (std::size_t i = 0; i + 1 < code.size() && i < 4; i++) {
    const auto first = static_cast<unsigned>(code[i]), second = static_cast<unsigned>(code[i + 1]);
    if (first == 0x0f) return second == 0x0b || second == 0xb9 || second == 0xff;
  }
  return false;
}

}  // namespace

ByteView CodeImage::at(std::uint64_t address, std::uint64_t most) const {
  const auto behind = std::ranges::upper_bound(pieces_, address, {}, &Piece::address);
  if (behind == pieces_.begin()) return {};
  const Piece& piece = *std::prev(behind);
  return subview(as_bytes(piece.bytes), address - piece.address, most);
}

std::optional<CodeImage::Origin> CodeImage::origin_of(std::uint64_t address) const {
  const Piece* const piece = code_at(address);
  if (piece == nullptr) return std::nullopt;
  if (piece->section.empty()) return Origin{{}, {}, address - kernel_text_};
  return Origin{piece->module, piece->section, address - piece->address};
}

std::optional<std::uint64_t> CodeImage::address_of(const Origin& origin) const {
  if (origin.section.empty()) return kernel_text_ + origin.offset;
  for (const Piece& piece : pieces_) {
    if (piece.module == origin.module && piece.section == origin.section) {
      return piece.address + origin.offset;
    }
  }
  return std::nullopt;
}

const CodeImage::Piece* CodeImage::code_at(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(pieces_, address, {}, &Piece::address);
  if (behind == pieces_.begin()) return nullptr;
  const Piece& piece = *std::prev(behind);
  return piece.is_code && address - piece.address < piece.bytes.size() ? &piece : nullptr;
}

const CodeFunction* CodeImage::function_at(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(functions_, address, {}, &CodeFunction::begin);
  if (behind == functions_.begin()) return nullptr;
  const CodeFunction& function = *std::prev(behind);
  return address < function.end ? &function : nullptr;
}

std::vector<const CodeFunction*> CodeImage::named(std::string_view name) const {
  std::vector<const CodeFunction*> found;
  const auto begin = std::ranges::lower_bound(names_, name, {}, &NamedAddress::first);
  const auto end = std::ranges::upper_bound(names_, name, {}, &NamedAddress::first);
  for (auto at = begin; at != end; ++at) found.push_back(function_at(at->second));
  return found;
}

std::span<const CodeSite> CodeImage::sites_at(std::uint64_t address) const {
  const auto begin = std::ranges::lower_bound(sites_, address, {}, &CodeSite::address);
  const auto end = std::ranges::upper_bound(sites_, address, {}, &CodeSite::address);
  return {begin, end};
}

std::string CodeImage::name_of(std::uint64_t address) const {
  const CodeFunction* const function = function_at(address);
  if (function == nullptr) return fmt::format("{:#x}", address);
  if (address == function->begin) return std::string(function->name);
  return fmt::format("{}+{:#x}", function->name, address - function->begin);
}

void CodeImage::find_functions(const Parts& parts) {
  std::vector<const Symbol*> symbols;
  for (const Symbol& symbol : parts.symbols) {
    if (code_at(symbol.address) != nullptr) symbols.push_back(&symbol);
  }
  std::ranges::stable_sort(symbols, {}, [](const Symbol* symbol) { return symbol->address; });
  for (std::size_t i = 0; i < symbols.size(); i++) {
    const Symbol& symbol = *symbols[i];
    if (!is_function(symbol)) continue;
    names_.emplace_back(symbol.name, symbol.address);
    if (!functions_.empty() && functions_.back().begin == symbol.address) continue;
    std::size_t next = i + 1;
    while (next < symbols.size() && symbols[next]->address == symbol.address) next++;
    const Piece& piece = *code_at(symbol.address);
    const std::uint64_t rest = piece.bytes.size() - (symbol.address - piece.address);
    const std::uint64_t to_next =
        next < symbols.size() ? symbols[next]->address - symbol.address : UINT64_MAX;
    CodeFunction function{.begin = symbol.address,
                          .end = symbol.address + std::min(rest, to_next),
                          .has_open_end = piece.has_open_end && rest <= to_next,
                          .name = symbol.name,
                          .module = symbol.module};
    for (const auto& [range, why] : parts.forbidden) {
      if (range.holds(symbol.address)) function.forbidden = why;
    }
    functions_.push_back(function);
  }
  std::ranges::sort(names_);
}

void CodeImage::read_bugs(Range table) {
  // Most entries are of traps; newer kernels have some of calls that warn.
  const auto fits = [&](std::uint64_t bytes) {
    if ((table.end - table.begin) % bytes != 0) return false;
    std::uint64_t traps = 0, others = 0;
    for (std::uint64_t entry = table.begin; entry < table.end; entry += bytes) {
      const ByteView code = at(pointed_by(*this, entry), kLongestTrap);
      // Text that was freed after the start is not read.
      if (!code.empty()) (is_trap(code) ? traps : others)++;
    }
    return traps > 3 * others;
  };
  const auto* const bytes = std::ranges::find_if(kBugBytes, fits);
  if (bytes == std::end(kBugBytes)) return;
  for (std::uint64_t entry = table.begin; entry < table.end; entry += *bytes) {
    std::uint16_t flags = 0;
    if (!read_at(at(entry + (*bytes == 8 ? 4 : *bytes - 2), sizeof flags), 0, flags)) continue;
    sites_.push_back({pointed_by(*this, entry), 0,
                      (flags & kBugIsWarning) != 0 ? SiteKind::warning : SiteKind::bug});
  }
}

void CodeImage::read_table(const Parts::Table& table) {
  const auto each = [&](std::uint64_t bytes, SiteKind kind, bool has_target) {
    for (std::uint64_t entry = table.range.begin; entry + bytes <= table.range.end;
         entry += bytes) {
      const std::uint64_t address = pointed_by(*this, entry);
      if (table.open && code_at(address) == nullptr) return;
      sites_.push_back({address, has_target ? pointed_by(*this, entry + 4) : 0, kind});
    }
  };
  if (table.name == "__ex_table") each(kExceptionBytes, SiteKind::exception, true);
  if (table.name == "__jump_table") each(kJumpLabelBytes, SiteKind::jump_label, true);
  if (table.name == ".static_call_sites") each(kStaticCallBytes, SiteKind::static_call, false);
  if (table.name == "__bug_table") read_bugs(table.range);
}

void CodeImage::add_marked(Parts& parts) {
  const auto range = [&](std::string_view begin, std::string_view end) -> Range {
    const auto first = std::ranges::find(parts.symbols, begin, &Symbol::name);
    const auto last = std::ranges::find(parts.symbols, end, &Symbol::name);
    if (first == parts.symbols.end() || last == parts.symbols.end()) return {};
    return {first->address, last->address};
  };
  parts.kernel_text = range("_stext", "_etext").begin;
  for (const Marked& marked : kMarkedTables) {
    parts.tables.push_back({marked.what, range(marked.begin, marked.end)});
  }
  for (const Marked& marked : kForbidden) {
    parts.forbidden.emplace_back(range(marked.begin, marked.end), marked.what);
  }
}

CodeImage CodeImage::finish(Parts parts) {
  CodeImage image;
  image.kernel_text_ = parts.kernel_text;
  image.texts_ = std::move(parts.texts);
  image.pieces_ = std::move(parts.pieces);
  std::ranges::sort(image.pieces_, {}, &Piece::address);
  image.find_functions(parts);
  for (const Parts::Table& table : parts.tables) image.read_table(table);
  std::erase_if(image.sites_,
                [&](const CodeSite& site) { return image.at(site.address, 1).empty(); });
  std::ranges::sort(image.sites_, {}, [](const CodeSite& site) {
    return std::tie(site.address, site.kind, site.target);
  });
  return image;
}

}  // namespace fkt
