// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/debug_file.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>

#include <fmt/core.h>

namespace fkt {
namespace {

// Debug information is read from this file alone: nothing is looked for, or fetched.
int find_nothing(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                 char**) {
  return -1;
}

constexpr Dwfl_Callbacks kCallbacks = {.find_elf = nullptr,
                                       .find_debuginfo = find_nothing,
                                       .section_address = dwfl_offline_section_address,
                                       .debuginfo_path = nullptr};

// Returns the path in the kernel's tree, whether it was built there or in a folder below it.
std::string tree_path(std::string_view path, std::string_view built_in) {
  if (!built_in.empty() && path.starts_with(built_in)) {
    path.remove_prefix(built_in.size());
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  }
  std::string out = std::filesystem::path(path).lexically_normal().string();
  while (out.starts_with("../")) out.erase(0, 3);
  return out;
}

bool ends_path(std::string_view path, std::string_view end) {
  return path.ends_with(end) &&
         (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

struct LineFacts {
  Dwarf_Addr address = 0;
  SourceLine line;
};

std::optional<LineFacts> facts_of(Dwfl_Line* line) {
  LineFacts facts;
  int number = 0;
  const char* const file = dwfl_lineinfo(line, &facts.address, &number, nullptr, nullptr, nullptr);
  if (file == nullptr || number <= 0) return std::nullopt;
  const char* const built_in = dwfl_line_comp_dir(line);
  facts.line = {tree_path(file, built_in == nullptr ? "" : built_in),
                static_cast<unsigned>(number)};
  return facts;
}

// Returns a number for the function, or the copy of one put into another, that an address is in.
Dwarf_Off scope_at(Dwarf_Die* unit, Dwarf_Addr address) {
  Dwarf_Die* found = nullptr;
  const int count = dwarf_getscopes(unit, address, &found);
  if (count <= 0) return 0;
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(found, &std::free);
  for (Dwarf_Die& scope : std::span(found, static_cast<std::size_t>(count))) {
    const int tag = dwarf_tag(&scope);
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
      return dwarf_dieoffset(&scope);
  }
  return 0;
}

}  // namespace

void DebugFile::EndSession::operator()(Dwfl* session) const {
  dwfl_end(session);
}

Result<DebugFile> DebugFile::open(const std::string& path) {
  const auto wrong = [&](const char* what) {
    return Error{ErrorCode::io, path + ": " + (what == nullptr ? "no ELF file" : what)};
  };
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return wrong(error ? error.message().c_str() : "no regular file");
  }
  DebugFile file;
  file.session_.reset(dwfl_begin(&kCallbacks));
  if (!file.session_) return wrong(dwfl_errmsg(-1));
  file.module_ = dwfl_report_offline(file.session_.get(), "file", path.c_str(), -1);
  if (file.module_ == nullptr) return wrong(dwfl_errmsg(-1));
  dwfl_report_end(file.session_.get(), nullptr, nullptr);
  Dwarf_Addr bias = 0;
  if (dwfl_module_getdwarf(file.module_, &bias) == nullptr) {
    return wrong("it has no debug information");
  }
  file.read_layout();
  return file;
}

void DebugFile::read_layout() {
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(module_, &bias);
  GElf_Ehdr header;
  std::size_t names = 0;
  if (elf == nullptr || gelf_getehdr(elf, &header) == nullptr ||
      elf_getshdrstrndx(elf, &names) != 0) {
    return;
  }
  for (Elf_Scn* section = nullptr;
       header.e_type == ET_REL && (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr one;
    if (gelf_getshdr(section, &one) == nullptr || (one.sh_flags & SHF_EXECINSTR) == 0) continue;
    const char* const name = elf_strptr(elf, names, one.sh_name);
    if (name != nullptr) sections_.emplace(name, Section{one.sh_addr + bias, one.sh_size});
  }
  const int symbols = dwfl_module_getsymtab(module_);
  for (int i = 0; header.e_type != ET_REL && i < symbols && kernel_text_ == 0; i++) {
    GElf_Sym symbol;
    const char* const name = dwfl_module_getsym(module_, i, &symbol, nullptr);
    if (name != nullptr && std::string_view(name) == "_stext") kernel_text_ = symbol.st_value;
  }
}

std::string DebugFile::build_id() const {
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int bytes = dwfl_module_build_id(module_, &bits, &address);
  std::string out;
  for (int i = 0; i < bytes; i++) out += fmt::format("{:02x}", bits[i]);
  return out;
}

std::optional<std::uint64_t> DebugFile::address_of(std::string_view section,
                                                   std::uint64_t offset) const {
  if (section.empty()) {
    if (kernel_text_ == 0) return std::nullopt;
    return kernel_text_ + offset;
  }
  const auto found = sections_.find(section);
  if (found == sections_.end() || offset >= found->second.bytes) return std::nullopt;
  return found->second.begin + offset;
}

std::optional<FilePlace> DebugFile::place_of(std::uint64_t address) const {
  if (!is_module()) return FilePlace{{}, address - kernel_text_};
  for (const auto& [name, section] : sections_) {
    if (address - section.begin < section.bytes) return FilePlace{name, address - section.begin};
  }
  return std::nullopt;
}

std::optional<SourceLine> DebugFile::line_at(std::string_view section, std::uint64_t offset) const {
  const auto address = address_of(section, offset);
  Dwfl_Line* const line = address ? dwfl_module_getsrc(module_, *address) : nullptr;
  auto facts = line == nullptr ? std::nullopt : facts_of(line);
  if (!facts) return std::nullopt;
  return std::move(facts->line);
}

template <class Visit>
void DebugFile::for_each_line(std::string_view file, Visit visit) const {
  // A file with code of its own is a unit of this name; a header's lines are in any unit.
  for (const bool of_units_called_so : {true, false}) {
    bool has_found = false;
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr;) {
      const char* const name = dwarf_diename(unit);
      const bool is_called_so = name != nullptr && ends_path(tree_path(name, ""), file);
      std::size_t count = 0;
      if (is_called_so != of_units_called_so || dwfl_getsrclines(unit, &count) != 0) continue;
      for (std::size_t i = 0; i < count; i++) {
        const auto facts = facts_of(dwfl_onesrcline(unit, i));
        if (!facts || !ends_path(facts->line.file, file)) continue;
        has_found = true;
        visit(unit, facts->address, facts->line.number, bias);
      }
    }
    if (has_found) return;
  }
}

std::vector<FilePlace> DebugFile::places_of(std::string_view file, unsigned number) const {
  std::map<Dwarf_Off, Dwarf_Addr> first;  // by function or copy of one
  for_each_line(file, [&](Dwarf_Die* unit, Dwarf_Addr address, unsigned found, Dwarf_Addr bias) {
    if (found != number) return;
    const auto [at, is_new] = first.emplace(scope_at(unit, address - bias), address);
    if (!is_new) at->second = std::min(at->second, address);
  });
  std::vector<FilePlace> places;
  for (const auto& [scope, address] : first) {
    if (auto place = place_of(address)) places.push_back(std::move(*place));
  }
  return places;
}

unsigned DebugFile::next_line_with_code(std::string_view file, unsigned number) const {
  unsigned next = 0;
  for_each_line(file, [&](Dwarf_Die*, Dwarf_Addr, unsigned found, Dwarf_Addr) {
    if (found > number && (next == 0 || found < next)) next = found;
  });
  return next;
}

}  // namespace fkt
