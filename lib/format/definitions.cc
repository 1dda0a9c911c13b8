// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/definitions.h"

#include "lib/base/bytes.h"
#include "lib/base/text.h"

namespace fkt {

std::string Definitions::add(std::string_view lines) {
  std::string added;
  while (!lines.empty()) {
    std::string line(take_until(lines, '\n'));
    if (line.empty()) continue;
    const auto [known, is_new] = known_.insert(std::move(line));
    if (is_new) added += *known + '\n';
  }
  lines_ += added;
  return added;
}

}  // namespace fkt
