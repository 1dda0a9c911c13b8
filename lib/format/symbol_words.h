// SPDX-License-Identifier: GPL-2.0-only
// Translates addresses in texts into names of the kernel's symbols, and names into addresses, for
// logs and configurations of KFT.
#pragma once

#include <cstdint>
#include <map>
#include <set>
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
  // Returns the words in the lines so far that stand in the place of a function in a configuration
  // of KFT and name none.
  const std::set<std::string>& unknown() const { return unknown_; }
  // Returns how many names have become addresses.
  std::uint64_t replaced() const { return replaced_; }

 private:
  std::string word(std::string_view name, bool is_part);
  bool is_place(std::string_view word);

  const Symbols symbols_;
  std::unordered_map<std::string_view, std::vector<std::uint64_t>> addresses_;
  std::map<std::string, std::vector<std::uint64_t>> ambiguous_;
  std::set<std::string> unknown_;
  std::uint64_t replaced_ = 0;
  // Where the next word stands in a configuration.
  bool in_list_ = false;  // between funclist and fend
  bool is_next_ = false;  // behind entry, exit or caller
};

}  // namespace fkt
