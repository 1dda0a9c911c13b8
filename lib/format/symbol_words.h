// SPDX-License-Identifier: GPL-2.0-only
// Translates addresses in texts into names of the kernel's symbols, and names into addresses, for
// logs and configurations of KFT.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/format/symbols.h"

namespace fkt {

// Replaces addresses by names.
class AddressWords {
 public:
  explicit AddressWords(Symbols symbols);

  // Returns the line with the name of each address in it, as "name" or "name+0x1c". Addresses are
  // words of hexadecimal digits: "0x" and 1 to 16 of them, or 8 or 16 without. What lies in no
  // symbol stays as it is, and so do numbers below the kernel's text: offsets, and addresses of
  // programs.
  std::string translated(std::string_view line) const;

 private:
  const Symbols symbols_;
  std::uint64_t first_ = ~0ULL;  // the lowest address of a function
};

// Replaces names of functions by addresses.
class NameWords {
 public:
  explicit NameWords(Symbols symbols);

  // Returns the line with the address of each function named in it, as "0xffffffff81000100"; after
  // a name "+0x1c" is added. Words of KFT's configuration language, other words, and lines that
  // begin with "#" stay as they are. So do names of several functions, which are kept for
  // ambiguous().
  std::string translated(std::string_view line);
  // Returns the names in the lines so far that have several addresses, with these.
  const std::map<std::string, std::vector<std::uint64_t>>& ambiguous() const { return ambiguous_; }

 private:
  std::string word(std::string_view name);

  const Symbols symbols_;
  std::unordered_map<std::string_view, std::vector<std::uint64_t>> addresses_;
  std::map<std::string, std::vector<std::uint64_t>> ambiguous_;
};

}  // namespace fkt
