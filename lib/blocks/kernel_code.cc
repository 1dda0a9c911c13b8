// SPDX-License-Identifier: GPL-2.0-only
// CodeImage::of_running_kernel(): from /proc/kcore, /proc/kallsyms and the modules' sections in
// sysfs.
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "lib/base/os_error.h"
#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/unique_fd.h"
#include "lib/blocks/code_image.h"
#include "lib/record/kernel_symbols.h"

namespace fkt {
namespace {

constexpr std::uint64_t kMemoryPage = 4096;
constexpr std::uint64_t kMostImage = 512 << 20;   // bytes of the kernel's own image
constexpr std::uint64_t kMostSection = 16 << 20;  // bytes of a module's section
constexpr std::uint64_t kMostTable = 1 << 20;     // bytes of a module's table
constexpr std::uint16_t kMostSegments = 4096;

// The kernel's memory, of which /proc/kcore is an ELF file.
class KernelMemory {
 public:
  static Result<KernelMemory> open(const std::string& path) {
    KernelMemory memory;
    memory.fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!memory.fd_) return unreadable(path, os_error(errno));
    Elf64_Ehdr header{};
    if (::pread(memory.fd_.get(), &header, sizeof header, 0) != sizeof header ||
        header.e_phnum > kMostSegments || header.e_phentsize != sizeof(Elf64_Phdr)) {
      return unreadable(path, "it has no ELF header");
    }
    memory.segments_.resize(header.e_phnum);
    const auto bytes = static_cast<ssize_t>(header.e_phnum * sizeof(Elf64_Phdr));
    if (::pread(memory.fd_.get(), memory.segments_.data(), static_cast<std::size_t>(bytes),
                static_cast<off_t>(header.e_phoff)) != bytes) {
      return unreadable(path, "its segments cannot be read");
    }
    return memory;
  }

  // Returns `bytes` from an address on, or as many as there are.
  std::string read(std::uint64_t address, std::uint64_t bytes) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || address - segment.p_vaddr >= segment.p_memsz) continue;
      std::string out(std::min(bytes, segment.p_memsz - (address - segment.p_vaddr)), '\0');
      std::size_t done = 0;
      while (done < out.size()) {
        const auto at = static_cast<off_t>(segment.p_offset + (address - segment.p_vaddr) + done);
        const ssize_t got = ::pread(fd_.get(), out.data() + done, out.size() - done, at);
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
      }
      out.resize(done);
      return out;
    }
    return {};
  }

 private:
  static Error unreadable(const std::string& path, const std::string& why) {
    return {ErrorCode::io, path + ": " + why +
                               " (it needs root, CONFIG_PROC_KCORE, and a kernel that is not "
                               "locked down; or name the kernel's file by --file)"};
  }

  UniqueFd fd_;
  std::vector<Elf64_Phdr> segments_;
};

class KernelReader {
 public:
  KernelReader(KernelMemory memory, std::string sys)
      : memory_(std::move(memory)), sys_(std::move(sys)) {}

  Result<CodeImage> read(KernelSymbols symbols) {
    parts_.symbols = std::move(symbols.symbols);
    parts_.texts = std::move(symbols.texts);
    if (const char* missing = read_image()) {
      return Error{ErrorCode::io, std::string("/proc/kcore: the kernel's ") + missing +
                                      " is not among its symbols or cannot be read"};
    }
    read_modules();
    CodeImage::add_marked(parts_);
    forbid_blacklist();
    return CodeImage::finish(std::move(parts_));
  }

 private:
  std::optional<std::uint64_t> address_of(std::string_view name) const {
    const auto found = std::ranges::find(parts_.symbols, name, &Symbol::name);
    return found == parts_.symbols.end() ? std::nullopt : std::optional(found->address);
  }

  // Reads the kernel's own image: code, and the data with its tables. What runs at the start alone
  // is freed. Returns what is missing.
  const char* read_image() {
    const auto begin = address_of("_stext"), code_end = address_of("_etext");
    const auto init = address_of("__init_begin"), init_end = address_of("__init_end");
    const auto end = address_of("_end");
    if (!begin || !code_end || *code_end < *begin) return "text";
    if (!init || !init_end || !end || *end < *begin || *end - *begin > kMostImage) return "data";
    add_piece(*begin, *code_end, true);
    add_piece(*code_end, *init, false);
    add_piece(*init_end, *end, false);
    return parts_.pieces.front().bytes.empty() ? "text" : nullptr;
  }

  void add_piece(std::uint64_t begin, std::uint64_t end, bool is_code, bool has_open_end = false) {
    if (end <= begin) return;
    parts_.pieces.push_back({begin, memory_.read(begin, end - begin), is_code, has_open_end});
  }

  // Modules' sections, of which sysfs tells the addresses alone: one ends where the next begins, or
  // with its last page.
  void read_modules() {
    std::map<std::string_view, std::vector<const Symbol*>> modules;
    for (const Symbol& symbol : parts_.symbols) {
      if (!symbol.module.empty()) modules[symbol.module].push_back(&symbol);
    }
    for (const auto& [module, symbols] : modules) read_module(module, symbols);
  }

  void read_module(std::string_view module, const std::vector<const Symbol*>& symbols) {
    const std::string folder = sys_ + "/module/" + std::string(module) + "/sections";
    std::map<std::uint64_t, std::string> sections;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const auto text = read_file(entry.path(), kMemoryPage);
      std::uint64_t address = 0;
      if (text && text->starts_with("0x") &&
          parse_number(std::string_view(*text).substr(2, text->find('\n') - 2), address, 16)) {
        sections.emplace(address, entry.path().filename());
      }
    }
    for (auto at = sections.begin(); at != sections.end(); ++at) {
      const auto next = std::next(at);
      const std::uint64_t behind = next == sections.end() ? UINT64_MAX : next->first;
      if (!read_section(at->second, at->first, behind, symbols)) continue;
      parts_.pieces.back().module = module;
      parts_.pieces.back().section = at->second;
    }
  }

  // Returns whether it is one that is needed: it is the last piece then.
  bool read_section(const std::string& name, std::uint64_t begin, std::uint64_t behind,
                    const std::vector<const Symbol*>& symbols) {
    const bool is_code = name.find("text") != name.npos && !name.starts_with(".init");
    const auto* const table = std::ranges::find(CodeImage::kTables, name);
    if (!is_code && table == std::end(CodeImage::kTables)) return false;
    std::uint64_t end = std::min(behind, begin + (is_code ? kMostSection : kMostTable));
    if (is_code) {
      // The page with the last symbol is the last one, unless another section begins before.
      std::uint64_t last = begin;
      for (const Symbol* symbol : symbols) {
        if (symbol->address < end) last = std::max(last, symbol->address);
      }
      end = std::min(end, (last / kMemoryPage + 1) * kMemoryPage);
    }
    if (end <= begin) return false;
    add_piece(begin, end, is_code, true);
    const CodeImage::Range range{begin, end};
    if (!is_code) parts_.tables.push_back({*table, range, true});
    if (name == ".noinstr.text") {
      parts_.forbidden.emplace_back(range, "not to be instrumented (noinstr)");
    }
    return true;
  }

  // What kprobes are refused in, which the kernel tells where debugfs is mounted.
  void forbid_blacklist() {
    const auto text = read_file(sys_ + "/kernel/debug/kprobes/blacklist");
    if (!text) return;
    for_each_line(*text, [&](std::string_view line, std::size_t) {
      // 0xBEGIN-0xEND<tab>NAME
      CodeImage::Range range;
      std::string_view begin = take_until(line, '-'), end = take_until(line, '\t');
      if (begin.starts_with("0x") && end.starts_with("0x") &&
          parse_number(begin.substr(2), range.begin, 16) &&
          parse_number(end.substr(2), range.end, 16)) {
        parts_.forbidden.emplace_back(range, "the kernel forbids probes in it");
      }
      return true;
    });
  }

  KernelMemory memory_;
  std::string sys_;
  CodeImage::Parts parts_;
};

}  // namespace

Result<CodeImage> CodeImage::of_running_kernel(const std::string& proc, const std::string& sys) {
  auto text = FKT_TRY(read_file(proc + "/kallsyms"));
  KernelSymbols symbols = parse_kallsyms(std::move(text));
  if (symbols.hidden) {
    return Error{ErrorCode::io, proc +
                                    "/kallsyms: the kernel hides its addresses from processes "
                                    "without CAP_SYSLOG (sudo)"};
  }
  auto memory = FKT_TRY(KernelMemory::open(proc + "/kcore"));
  return KernelReader(std::move(memory), sys).read(std::move(symbols));
}

}  // namespace fkt
