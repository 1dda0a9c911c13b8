// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/symbol_cache.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "lib/base/crc32.h"
#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/text.h"
#include "lib/base/unique_fd.h"
#include "lib/base/version.h"
#include "lib/base/write_file.h"
#include "lib/format/sections.h"

namespace fkt {
namespace {

// Without this capability the kernel hides its addresses from root, too.
bool may_know_addresses() {
  if (::geteuid() != 0) return false;
  const Result<std::string> status = read_file("/proc/self/status");
  std::uint64_t capabilities = 0;
  if (!status) return false;
  for_each_line(*status, [&](std::string_view line, std::size_t) {
    if (take_until(line, '\t') != "CapEff:") return true;
    if (!parse_number(line, capabilities, 16)) capabilities = 0;
    return false;
  });
  return capabilities >> CAP_SYSLOG & 1;
}

// Adds the numbers of the BPF programs; each program of a boot has a number of its own. Returns
// false if the kernel does not list them.
bool add_programs(std::string& to) {
  bpf_attr attributes{};
  for (;;) {
    attributes.start_id = attributes.next_id;
    if (::syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attributes, sizeof attributes) != 0) break;
    to += fmt::format("{} ", attributes.next_id);
  }
  return errno == ENOENT || errno == ENOSYS;
}

// Adds each module's name, size, state and address, without its users, which come and go, and what
// tells its builds apart.
bool add_modules(SymbolsIdentity& to) {
  const Result<std::string> modules = read_file("/proc/modules");
  if (!modules) return false;
  for_each_line(*modules, [&](std::string_view line, std::size_t) {
    const std::string_view name = take_until(line, ' '), size = take_until(line, ' ');
    take_until(line, ' ');  // the number of users
    take_until(line, ' ');  // and their names
    to.text += fmt::format("{} {} {}", name, size, line);
    // The folder has another number each time that the module is loaded.
    const std::string folder = "/sys/module/" + std::string(name);
    struct stat status {};
    const std::string load =
        ::stat(folder.c_str(), &status) == 0 ? fmt::format(" {}", status.st_ino) : " gone";
    const Result<std::string> build = read_file(folder + "/notes/.note.gnu.build-id");
    to.text += build && !build->empty() ? fmt::format(" {:08x}", crc32(as_bytes(*build))) : load;
    to.text += '\n';
    to.loads += load;
    return true;
  });
  return true;
}

bool add_file(std::string& to, const char* path) {
  const Result<std::string> text = read_file(path);
  if (text) to += *text;
  return static_cast<bool>(text);
}

bool write_whole(const std::string& path, std::string_view text) {
  const UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  return file && write_all(file.get(), as_bytes(text), path);
}

// The line before the identity.
std::string first_line(std::string_view identity) {
  return fmt::format("fkt {} symbols {}\n", kVersion, identity.size());
}

// Whether they are a section and the closing one behind it, undamaged.
bool is_whole(std::string_view sections) {
  const SectionList list = walk_sections(as_bytes(sections), 0, sections.size());
  if (list.sections.size() != 2 || list.end != sections.size() || !list.faults.empty())
    return false;
  if (list.sections.back().header.type != FKT_SEC_END) return false;
  for (const Section& section : list.sections) {
    if (!check_section(section)) return false;
  }
  return true;
}

}  // namespace

std::optional<SymbolsIdentity> symbols_identity() {
  SymbolsIdentity identity;
  if (!may_know_addresses() || !add_file(identity.text, "/proc/sys/kernel/random/boot_id") ||
      !add_file(identity.text, "/proc/sys/kernel/kptr_restrict") ||
      !add_file(identity.text, "/sys/kernel/debug/kprobes/list") || !add_modules(identity) ||
      !add_programs(identity.text)) {
    return {};
  }
  return identity;
}

std::string SymbolCache::file_of(std::string_view identity) const {
  return fmt::format("{}/{}{:08x}", folder_, name_, crc32(as_bytes(identity)));
}

std::optional<std::string> SymbolCache::find(std::string_view identity) const {
  const std::string file = file_of(identity);
  struct stat status {};
  // Only a file that root owns is used.
  if (::stat(file.c_str(), &status) != 0 || status.st_uid != ::geteuid()) return {};
  const Result<std::string> text = read_file(file);
  if (!text) return {};
  std::string_view rest = *text;
  for (const std::string& begin : {first_line(identity), std::string(identity)}) {
    if (!rest.starts_with(begin)) return {};
    rest.remove_prefix(begin.size());
  }
  if (!is_whole(rest)) return {};
  // Reading alone need not change it.
  const timespec used[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  ::utimensat(AT_FDCWD, file.c_str(), used, 0);
  return std::string(rest);
}

// Recorders that start at once each rename a file of their own.
void SymbolCache::keep(std::string_view identity, std::string_view section) const {
  ::mkdir(folder_.c_str(), 0700);
  const std::string file = file_of(identity);
  const std::string made = fmt::format("{}/new.{}{}", folder_, name_, ::getpid());
  ::unlink(made.c_str());
  const bool written =
      write_whole(made, first_line(identity) + std::string(identity) + std::string(section));
  if (!written || ::rename(made.c_str(), file.c_str()) != 0) ::unlink(made.c_str());
  remove_oldest();
}

// Takes no lock. If two recorders call it at once, fewer than kMost lists may remain.
void SymbolCache::remove_oldest() const {
  std::map<std::pair<time_t, long>, std::string> by_age;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    struct stat status {};
    if (!entry.path().filename().string().starts_with(name_)) continue;
    if (::stat(entry.path().c_str(), &status) != 0) continue;
    by_age[{status.st_atim.tv_sec, status.st_atim.tv_nsec}] = entry.path();
  }
  for (; by_age.size() > kMost; by_age.erase(by_age.begin()))
    ::unlink(by_age.begin()->second.c_str());
}

}  // namespace fkt
