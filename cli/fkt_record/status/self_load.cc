// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/status/self_load.h"

#include <fmt/core.h>

namespace fkt::record {
namespace {

// On an idle machine most events may be the recorder's own, but they are few, so no warning below
// this many bytes.
constexpr std::uint64_t kLeast = 2 << 20;
constexpr double kMuch = 50;

std::optional<double> percent(std::uint64_t own, std::uint64_t sampled_bytes) {
  if (sampled_bytes == 0) return std::nullopt;
  return 100 * static_cast<double>(own) / static_cast<double>(sampled_bytes);
}

}  // namespace

std::optional<double> self_percent(const fkt_status& status) {
  return percent(status.own_bytes, status.sampled_bytes);
}

std::optional<std::string> SelfLoad::look(const fkt_status& status) {
  const std::uint64_t sampled_bytes = status.sampled_bytes - sampled_bytes_,
                      own = status.own_bytes - own_;
  sampled_bytes_ = status.sampled_bytes;
  own_ = status.own_bytes;
  const std::optional<double> share = percent(own, sampled_bytes);
  if (told_ || sampled_bytes < kLeast || !share || *share < kMuch) return std::nullopt;
  told_ = true;
  return fmt::format(
      "{:.0f} % of what is recorded is the recorder's own doing: writing a page fills {}, it feeds "
      "on itself (--no-self leaves it out; fewer layers help, too)",
      *share, *share > 90 ? "about another" : "much of another");
}

}  // namespace fkt::record
