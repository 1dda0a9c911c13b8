// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/keep_children.h"

#include "lib/base/parse.h"
#include "lib/base/text.h"

namespace fkt {

Result<KeepChildren> KeepChildren::parse(std::string_view text) {
  constexpr std::uint32_t kMostLevels = 1000;
  KeepChildren keep;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = take_until(rest, ',');
    const bool is_share = word.ends_with('%');
    std::uint32_t& number = is_share ? keep.percent : keep.levels;
    if (number != 0 || !parse_number(word.substr(0, word.size() - (is_share ? 1 : 0)), number) ||
        number == 0 || number > (is_share ? 100 : kMostLevels)) {
      return Error{ErrorCode::usage,
                   '"' + std::string(text) +
                       "\" where how many calls deep (3), the least share of the time (10%), or "
                       "both (3,10%) should stand"};
    }
  }
  return keep;
}

std::string KeepChildren::text() const {
  std::string text;
  if (levels != 0) text = std::to_string(levels);
  if (percent != 0) text += (text.empty() ? "" : ",") + std::to_string(percent) + '%';
  return text;
}

std::string KeepChildren::words() const {
  std::string words =
      "with each of them, however short they are, the calls of these functions that it has made, "
      "directly or not";
  if (levels != 0) words += ", to " + std::to_string(levels) + " calls below it";
  if (percent != 0)
    words += ", and that took at least " + std::to_string(percent) + "% of its time";
  return words;
}

}  // namespace fkt
