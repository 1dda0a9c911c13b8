// SPDX-License-Identifier: GPL-2.0-only
// CodeImage::of_file().
#include <gelf.h>

#include <cstring>
#include <filesystem>
#include <optional>

#include "lib/base/read_file.h"
#include "lib/blocks/code_image.h"

namespace fkt {
namespace {

constexpr std::uint64_t kOtherBytes = 16;
constexpr std::uint64_t kSectionAlign = 64;

struct EndElfFile {
  void operator()(Elf* elf) const { elf_end(elf); }
};

class CodeFileReader {
 public:
  CodeFileReader(std::string path, Elf* elf) : path_(std::move(path)), elf_(elf) {}

  Result<CodeImage> read() {
    GElf_Ehdr header;
    if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF || gelf_getehdr(elf_, &header) == nullptr ||
        header.e_machine != EM_X86_64 || gelf_getclass(elf_) != ELFCLASS64) {
      return wrong("neither a kernel nor a module for x86-64 (a compressed one is to be unpacked)");
    }
    is_module_ = header.e_type == ET_REL;
    elf_getshdrstrndx(elf_, &names_);
    FKT_TRY(read_sections());
    read_symbols();
    if (is_module_) relocate();
    if (!is_module_) CodeImage::add_marked(parts_);
    CodeImage image = CodeImage::finish(std::move(parts_));
    if (image.functions().empty()) return wrong("it has no functions with names (stripped)");
    return image;
  }

 private:
  Error wrong(const std::string& what) const { return {ErrorCode::usage, path_ + ": " + what}; }

  std::string_view section_name(const GElf_Shdr& header) const {
    const char* const name = elf_strptr(elf_, names_, header.sh_name);
    return name == nullptr ? "" : name;
  }

  Status read_sections() {
    std::uint64_t next = CodeImage::kModuleBegin;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      pieces_.resize(elf_ndxscn(section) + 1);
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) return wrong("a section cannot be read");
      if (header.sh_type != SHT_PROGBITS || (header.sh_flags & SHF_ALLOC) == 0) continue;
      Elf_Data* const data = elf_getdata(section, nullptr);
      if (data == nullptr || data->d_buf == nullptr) continue;
      const std::uint64_t address = is_module_ ? next : header.sh_addr;
      next = (next + data->d_size + kSectionAlign - 1) / kSectionAlign * kSectionAlign;
      pieces_[elf_ndxscn(section)] = parts_.pieces.size();
      parts_.pieces.push_back({address,
                               std::string(static_cast<const char*>(data->d_buf), data->d_size),
                               (header.sh_flags & SHF_EXECINSTR) != 0});
      if (!is_module_) continue;
      parts_.pieces.back().section = section_name(header);
      note_section(section_name(header), address, data->d_size);
    }
    return Done{};
  }

  void note_section(std::string_view name, std::uint64_t address, std::uint64_t bytes) {
    const CodeImage::Range range{address, address + bytes};
    for (const std::string_view table : CodeImage::kTables) {
      if (name == table) parts_.tables.push_back({table, range});
    }
    if (name == ".init.text") parts_.forbidden.emplace_back(range, "runs when it is loaded alone");
    if (name == ".noinstr.text") {
      parts_.forbidden.emplace_back(range, "not to be instrumented (noinstr)");
    }
  }

  void read_symbols() {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
      Elf_Data* const data = elf_getdata(section, nullptr);
      if (data == nullptr || header.sh_entsize == 0) continue;
      for (std::uint64_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
        add_symbol(symbol, elf_strptr(elf_, header.sh_link, symbol.st_name));
      }
    }
  }

  // Keeps the address of every symbol, for relocations, and the names of those of code and tables.
  void add_symbol(const GElf_Sym& symbol, const char* name) {
    addresses_.push_back(std::nullopt);
    const bool is_named = name != nullptr && *name != '\0';
    std::uint64_t address = symbol.st_value;
    if (symbol.st_shndx == SHN_UNDEF) {
      if (!is_named) return;
      address = add_other();
    } else if (is_module_ && symbol.st_shndx < pieces_.size() && pieces_[symbol.st_shndx]) {
      address += parts_.pieces[*pieces_[symbol.st_shndx]].address;
    } else if (is_module_) {
      return;
    }
    addresses_.back() = address;
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (!is_named || type == STT_SECTION || type == STT_FILE) return;
    parts_.texts.push_back(std::make_shared<const std::string>(name));
    // Assembler code may have no type.
    const bool is_data = type == STT_OBJECT || name[0] == '.';
    parts_.symbols.push_back({address, is_data ? 'd' : 't', *parts_.texts.back(), {}});
  }

  // Returns the address of one more function that is not in this file.
  std::uint64_t add_other() {
    if (others_ == 0) {
      parts_.pieces.push_back({CodeImage::kMissingBegin, {}, true});
      others_ = parts_.pieces.size();
    }
    std::string& bytes = parts_.pieces[others_ - 1].bytes;
    bytes.append(kOtherBytes, '\xcc');
    const CodeImage::Range all{CodeImage::kMissingBegin, CodeImage::kMissingBegin + bytes.size()};
    if (bytes.size() == kOtherBytes) parts_.forbidden.emplace_back(all, "it is not in this file");
    parts_.forbidden.back().first = all;
    return all.end - kOtherBytes;
  }

  void relocate() {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA) continue;
      if (header.sh_info >= pieces_.size() || !pieces_[header.sh_info]) continue;
      Elf_Data* const data = elf_getdata(section, nullptr);
      if (data == nullptr || header.sh_entsize == 0) continue;
      for (std::uint64_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
        GElf_Rela one;
        if (gelf_getrela(data, static_cast<int>(i), &one) == nullptr) break;
        apply(parts_.pieces[*pieces_[header.sh_info]], one);
      }
    }
  }

  void apply(CodeImage::Piece& piece, const GElf_Rela& one) {
    const std::uint64_t index = GELF_R_SYM(one.r_info);
    if (index >= addresses_.size() || !addresses_[index]) return;
    std::uint64_t value = *addresses_[index] + static_cast<std::uint64_t>(one.r_addend);
    const auto type = GELF_R_TYPE(one.r_info);
    const bool is_relative =
        type == R_X86_64_PC32 || type == R_X86_64_PLT32 || type == R_X86_64_PC64;
    const bool is_wide = type == R_X86_64_64 || type == R_X86_64_PC64;
    // Others are not in modules, but for those that objtool has made void.
    if (!is_relative && !is_wide && type != R_X86_64_32 && type != R_X86_64_32S) return;
    const std::size_t bytes = is_wide ? 8 : 4;
    if (is_relative) value -= piece.address + one.r_offset;
    if (one.r_offset <= piece.bytes.size() && bytes <= piece.bytes.size() - one.r_offset) {
      std::memcpy(piece.bytes.data() + one.r_offset, &value, bytes);
    }
  }

  std::string path_;
  Elf* elf_;
  bool is_module_ = false;
  std::size_t names_ = 0;
  std::size_t others_ = 0;  // number of the piece of others, from 1; 0: there is none yet
  std::vector<std::optional<std::size_t>> pieces_;       // by the numbers of sections
  std::vector<std::optional<std::uint64_t>> addresses_;  // by the numbers of symbols
  CodeImage::Parts parts_;
};

}  // namespace

Result<CodeImage> CodeImage::of_file(const std::string& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (!error && kind != std::filesystem::file_type::regular) {
    return Error{ErrorCode::usage, path + ": no regular file"};
  }
  auto bytes = FKT_TRY(read_file(path, kMostBinary));
  return of_bytes(std::move(bytes), path);
}

Result<CodeImage> CodeImage::of_bytes(std::string bytes, const std::string& name) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElfFile> elf(elf_memory(bytes.data(), bytes.size()));
  return CodeFileReader(name, elf.get()).read();
}

}  // namespace fkt
