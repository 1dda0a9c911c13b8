// SPDX-License-Identifier: GPL-2.0-only
// Lines of the catalogue that were added while it recorded. A file may have a line several times:
// in its sections, and in events.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace fkt {

class Definitions {
 public:
  // Adds the lines that are new. Returns these, in their order.
  std::string add(std::string_view lines);
  // Returns all lines, in the order in which they were added.
  const std::string& lines() const { return lines_; }
  bool empty() const { return lines_.empty(); }

 private:
  std::string lines_;
  std::unordered_set<std::string> known_;
};

}  // namespace fkt
