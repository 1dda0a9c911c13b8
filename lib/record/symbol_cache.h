// SPDX-License-Identifier: GPL-2.0-only
// SymbolCache: what the running kernel lists of its symbols, or of the functions that can be
// traced, kept in memory until the machine restarts. The kernel takes longer to list its 200,000
// symbols than a recorder for all else that it does at a start.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fkt {

// Returns a text that is another one whenever /proc/kallsyms has other symbols: it names the boot,
// the modules with their addresses, the BPF programs and the kernel's probes. Nothing if this
// process may not know them all, or is not root. The trampolines of ftrace come and go without
// notice, and are listed as they were.
std::optional<std::string> symbols_identity();

class SymbolCache {
 public:
  // folder: of the file; on a file system in memory, for root alone.
  explicit SymbolCache(std::string folder = "/run/fkt", std::string_view name = "symbols")
      : folder_(std::move(folder)), file_(folder_ + '/' + std::string(name)) {}

  // Returns the section that was kept with this identity, encoded as Sections::bytes()
  // (lib/format/file_writer.h); nothing if there is none, or it is damaged.
  std::optional<std::string> find(std::string_view identity) const;
  // Keeps one section, encoded so, in place of the one before. A failure is ignored: the next start
  // takes longer, nothing else.
  void keep(std::string_view identity, std::string_view section) const;

 private:
  std::string folder_, file_;
};

}  // namespace fkt
