// SPDX-License-Identifier: GPL-2.0-only
// SymbolCache: what the running kernel lists of its symbols, or of the functions that can be
// traced, kept in memory until the machine restarts. The kernel takes longer to list its 200,000
// symbols than a recorder for all else that it does at a start. Several lists are kept, because
// modules come and go: the same ones are often loaded again, at the same addresses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fkt {

struct SymbolsIdentity {
  // Differs whenever /proc/kallsyms has other symbols: it names the boot, the modules with
  // their addresses and builds, the BPF programs and the kernel's probes. The trampolines of ftrace
  // come and go without notice, and are listed as they were.
  std::string text;
  // A text about loads of modules: two are equal only if no module was loaded between them. A list
  // of symbols that was read while a module was being loaded may lack that module's functions.
  std::string loads;

  bool operator==(const SymbolsIdentity&) const = default;
};
// Returns nothing if this process may not see all of these, or is not root.
std::optional<SymbolsIdentity> symbols_identity();

class SymbolCache {
 public:
  // How many lists are kept of one name.
  static constexpr std::size_t kMost = 4;

  // folder: of the files; on a file system in memory, for root alone. name: how the files' names
  // begin; no other cache in the folder may have a name that begins so.
  explicit SymbolCache(std::string folder = "/run/fkt", std::string_view name = "symbols")
      : folder_(std::move(folder)), name_(std::string(name) + '-') {}

  // Returns the section that was kept with this identity, encoded as Sections::bytes()
  // (lib/format/file_writer.h); nothing if there is none, or it is damaged.
  std::optional<std::string> find(std::string_view identity) const;
  // Keeps one section, encoded so, and removes the list that was not found for the longest time if
  // there are too many. A failure is ignored: the next start takes longer, nothing else.
  void keep(std::string_view identity, std::string_view section) const;

 private:
  // The path of the file with this identity; identities that share it replace each other.
  std::string file_of(std::string_view identity) const;
  void remove_oldest() const;

  std::string folder_, name_;
};

}  // namespace fkt
