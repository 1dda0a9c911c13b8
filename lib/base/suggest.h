// SPDX-License-Identifier: GPL-2.0-only
// Finds the name that was probably meant when an unknown one was given.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fkt {

// Returns the least number of letters to insert, drop, replace or swap with their neighbour to make
// `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Finds the nearest of the offered names. Fast with many names: comparing a name ends as soon as it
// is farther away than the nearest one so far.
class NearestName {
 public:
  // word: must stay valid.
  explicit NearestName(std::string_view word);
  void offer(std::string_view name);
  // Returns the first of the nearest names; nothing when more than a third of the letters differ.
  const std::optional<std::string>& found() const { return found_; }
  // Returns the end of an error line: "; did you mean \"system\"?", or an empty string.
  std::string question() const;

 private:
  std::string_view word_;
  std::size_t best_;  // only names nearer than this are taken
  std::vector<std::size_t> rows_[3];
  std::optional<std::string> found_;
};

// Returns NearestName::question() for these names.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace fkt
