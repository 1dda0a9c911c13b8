// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/user_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "lib/base/os_error.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr const char* kDebugFolder = "/usr/lib/debug/.build-id/";

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

ElfHandle begin_elf(int fd) {
  elf_version(EV_CURRENT);
  return ElfHandle(elf_begin(fd, ELF_C_READ_MMAP, nullptr));
}

// Returns where the file that has this program's debug symbols is installed; empty: it is not
// known.
std::string debug_path(Elf* elf) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE || data == nullptr)
      continue;
    GElf_Nhdr note;
    std::size_t name = 0, text = 0;
    for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &text)) != 0;) {
      if (note.n_type != NT_GNU_BUILD_ID || note.n_descsz < 2) continue;
      const auto* const bytes = static_cast<const unsigned char*>(data->d_buf) + text;
      std::string path = kDebugFolder;
      for (std::size_t i = 0; i < note.n_descsz; i++) {
        constexpr char kDigits[] = "0123456789abcdef";
        path += kDigits[bytes[i] >> 4];
        path += kDigits[bytes[i] & 15];
        if (i == 0) path += '/';
      }
      return path + ".debug";
    }
  }
  return {};
}

}  // namespace

class UserFile::Reader {
 public:
  explicit Reader(UserFile& file) : file_(file) {}

  Status read() {
    const ElfHandle elf = begin_elf(file_.fd());
    GElf_Ehdr header;
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF || gelf_getehdr(elf.get(), &header) == nullptr) {
      return wrong("no program or library");
    }
    if (header.e_machine != EM_X86_64 || gelf_getclass(elf.get()) != ELFCLASS64) {
      return wrong("not of this processor's 64-bit programs");
    }
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
      return wrong("neither a program nor a library");
    }
    read_segments(elf.get());
    read_sections(elf.get());
    read_debug_symbols(elf.get());
    finish();
    return Done{};
  }

 private:
  // A part of the file that is mapped as code.
  struct Segment {
    std::uint64_t address = 0, offset = 0, bytes = 0;
  };

  Error wrong(const std::string& what) const {
    return {ErrorCode::usage, file_.path_ + ": " + what};
  }

  void read_segments(Elf* elf) {
    std::size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return;
    for (std::size_t i = 0; i < count; i++) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) continue;
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
        code_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz});
      }
    }
  }

  void read_sections(Elf* elf) {
    std::size_t names = 0;
    elf_getshdrstrndx(elf, &names);
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      const char* const name = elf_strptr(elf, names, header.sh_name);
      if (name != nullptr && std::string_view(name) == ".gopclntab") file_.moves_stacks_ = true;
      if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
        read_symbols(elf, section, header);
      }
    }
  }

  void read_symbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) return;
    for (std::uint64_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
      const auto type = GELF_ST_TYPE(symbol.st_info);
      const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
      if (!is_function || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
      const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name != nullptr) add(name, symbol.st_value, type == STT_GNU_IFUNC);
    }
  }

  // A symbol's version may follow an "@".
  void add(std::string_view name, std::uint64_t address, bool chooses) {
    name = name.substr(0, name.find('@'));
    if (name.empty()) return;
    for (const Segment& segment : code_) {
      if (address < segment.address || address - segment.address >= segment.bytes) continue;
      file_.functions_.push_back(
          {std::string(name), address - segment.address + segment.offset, chooses});
      return;
    }
  }

  // The sections of that file have no contents, but its symbols are those of this one.
  void read_debug_symbols(Elf* elf) {
    const std::string path = debug_path(elf);
    if (path.empty()) return;
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return;
    const ElfHandle debug = begin_elf(fd.get());
    if (debug) read_sections(debug.get());
  }

  void finish() {
    const auto order = [](const UserFunction& function) {
      return std::tie(function.name, function.offset);
    };
    std::ranges::sort(file_.functions_, {}, order);
    auto& functions = file_.functions_;
    const auto [end, last] = std::ranges::unique(functions, {}, order);
    functions.erase(end, last);
    for (auto at = functions.begin(); at != functions.end();) {
      const auto next = std::find_if(at, functions.end(), [&](const UserFunction& function) {
        return function.name != at->name;
      });
      const bool chooses = std::any_of(at, next, [](const auto& one) { return one.chooses; });
      std::for_each(at, next, [&](UserFunction& function) { function.chooses = chooses; });
      at = next;
    }
  }

  UserFile& file_;
  std::vector<Segment> code_;
};

std::string_view UserFile::name() const {
  return std::string_view(path_).substr(path_.rfind('/') + 1);
}

Result<UserFile> UserFile::open(const std::string& path) {
  UserFile file;
  file.path_ = path;
  file.fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.fd_) return os_failure(path);
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return os_failure(path);
  if (!S_ISREG(status.st_mode)) return Error{ErrorCode::usage, path + ": no regular file"};
  const Status read = Reader(file).read();
  if (!read) return read.error();
  return file;
}

}  // namespace fkt
