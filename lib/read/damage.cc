// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/damage.h"

#include <algorithm>
#include <vector>

#include "lib/base/text.h"

namespace fkt {

std::string damage_of_source(const Totals& totals) {
  if (totals.source.empty()) return {};
  return "cut out of a recording that is not whole (" + totals.source + ")";
}

std::string damage_of(const Integrity& integrity, const RecordingInfo& info, bool listed) {
  std::string line;
  const auto add = [&line](const std::string& text, const char* between) {
    if (!text.empty()) line += (line.empty() ? "" : between) + text;
  };
  if (!integrity.finished) add("not finished by its recorder", "");
  if (integrity.damaged_pages > 0) {
    add(counted(integrity.damaged_pages, "damaged page") + " skipped", ", ");
  }
  if (integrity.missing_pages > 0) add(counted(integrity.missing_pages, "page") + " missing", ", ");
  if (info.totals) add(damage_of_source(*info.totals), ", ");

  const std::string* first = nullptr;
  std::uint64_t more = 0;
  for (const std::string& note : integrity.notes) {
    if (note == kUnfinished) continue;
    more += first != nullptr;
    if (first == nullptr) first = &note;
  }
  if (first != nullptr) add(*first, ": ");
  if (more > 0) {
    line += " (and " + counted(more, "more finding") +
            (listed ? ", in the statistics)" : ": fkt_print --stats lists them)");
  }
  return line;
}

std::string damage_of(const Recording& recording, bool listed) {
  return damage_of(recording.integrity(), recording.info(), listed);
}

}  // namespace fkt
