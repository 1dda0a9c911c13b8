// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/user_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>

#include "lib/base/each_once.h"
#include "lib/base/os_error.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr unsigned kProbeNote = 3;
constexpr std::string_view kProbeOwner = "stapsdt";
constexpr const char* kDebugFolder = "/usr/lib/debug/.build-id/";

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

ElfHandle begin_elf(int fd) {
  elf_version(EV_CURRENT);
  // Reads a copy: if the file were mapped and truncated by its owner, reading would raise SIGBUS.
  return ElfHandle(elf_begin(fd, ELF_C_READ, nullptr));
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
  // A part of the file that is mapped.
  struct Segment {
    std::uint64_t address = 0, offset = 0, bytes = 0;
    bool is_code = false;
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
      if (segment.p_type == PT_LOAD) {
        segments_.push_back(
            {segment.p_vaddr, segment.p_offset, segment.p_filesz, (segment.p_flags & PF_X) != 0});
      }
    }
  }

  void read_sections(Elf* elf) {
    std::size_t names = 0;
    elf_getshdrstrndx(elf, &names);
    std::optional<std::uint64_t> base;
    Elf_Scn* probes = nullptr;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      const char* const name = elf_strptr(elf, names, header.sh_name);
      const std::string_view called = name == nullptr ? "" : name;
      if (called == ".gopclntab") file_.moves_stacks_ = true;
      if (called == ".gcc_except_table") file_.handles_exceptions_ = true;
      if (header.sh_type == SHT_DYNAMIC) read_needed(elf, section, header);
      if (called == ".stapsdt.base") base = header.sh_addr;
      if (called == ".note.stapsdt" && header.sh_type == SHT_NOTE) probes = section;
      if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
        read_symbols(elf, section, header);
      }
    }
    if (probes != nullptr) read_probes(probes, base);
  }

  // Looks for the libraries of C++ among those that it is linked with.
  void read_needed(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) return;
    for (std::uint64_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) return;
      if (entry.d_tag != DT_NEEDED) continue;
      const char* const name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
      const std::string_view library = name == nullptr ? "" : name;
      file_.uses_cxx_ |= library.starts_with("libstdc++.") || library.starts_with("libc++.");
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
      if (name == nullptr) continue;
      file_.throws_ |= std::string_view(name) == "__cxa_throw";
      add(name, symbol, type == STT_GNU_IFUNC);
    }
  }

  // A symbol's version may follow an "@".
  void add(std::string_view name, const GElf_Sym& symbol, bool chooses) {
    name = name.substr(0, name.find('@'));
    if (name.empty()) return;
    const std::optional<std::uint64_t> offset = offset_of(symbol.st_value, true);
    if (offset) file_.functions_.push_back({std::string(name), *offset, chooses, symbol.st_size});
  }

  // Returns the offset in the file of this address; nothing: it is not in the file.
  std::optional<std::uint64_t> offset_of(std::uint64_t address, bool is_code) const {
    for (const Segment& segment : segments_) {
      if (segment.is_code != is_code || address < segment.address ||
          address - segment.address >= segment.bytes) {
        continue;
      }
      return address - segment.address + segment.offset;
    }
    return std::nullopt;
  }

  void read_probes(Elf_Scn* section, std::optional<std::uint64_t> base) {
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr) return;
    GElf_Nhdr note;
    std::size_t name = 0, text = 0;
    for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &text)) != 0;) {
      const std::string_view bytes(static_cast<const char*>(data->d_buf), data->d_size);
      if (note.n_type == kProbeNote && bytes.substr(name).starts_with(kProbeOwner)) {
        add_probe(bytes.substr(text, note.n_descsz), base);
      }
    }
  }

  // base: address of the section .stapsdt.base, by which addresses are corrected that a later link
  // has moved.
  void add_probe(std::string_view note, std::optional<std::uint64_t> base) {
    std::uint64_t
        addresses[3];  // of the probe, of that section when it was compiled, of its counter
    if (note.size() < sizeof addresses) return;
    std::memcpy(addresses, note.data(), sizeof addresses);
    note.remove_prefix(sizeof addresses);
    const std::uint64_t moved = base ? *base - addresses[1] : 0;
    UserProbe probe;
    std::string_view texts[3];
    for (std::string_view& text : texts) {
      const std::size_t end = note.find('\0');
      if (end == note.npos) return;
      text = note.substr(0, end);
      note.remove_prefix(end + 1);
    }
    const std::optional<std::uint64_t> offset = offset_of(addresses[0] + moved, true);
    if (!offset || texts[1].empty()) return;
    probe.provider = texts[0];
    probe.name = texts[1];
    probe.offset = *offset;
    if (addresses[2] != 0) {
      const std::optional<std::uint64_t> counter = offset_of(addresses[2] + moved, false);
      if (!counter) return;
      probe.counter = *counter;
    }
    probe.arguments = parse_user_arguments(texts[2]);
    file_.probes_.push_back(std::move(probe));
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
    auto& functions = file_.functions_;
    sort_each_once(functions, order);
    for (auto at = functions.begin(); at != functions.end();) {
      const auto next = std::find_if(at, functions.end(), [&](const UserFunction& function) {
        return function.name != at->name;
      });
      const bool chooses = std::any_of(at, next, [](const auto& one) { return one.chooses; });
      std::for_each(at, next, [&](UserFunction& function) { function.chooses = chooses; });
      at = next;
    }
    // The file of the debug symbols may have the notes, too.
    const auto place = [](const UserProbe& probe) {
      return std::tie(probe.name, probe.provider, probe.offset);
    };
    sort_each_once(file_.probes_, place);
  }

  UserFile& file_;
  std::vector<Segment> segments_;
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
  FKT_TRY(Reader(file).read());
  return file;
}

}  // namespace fkt
