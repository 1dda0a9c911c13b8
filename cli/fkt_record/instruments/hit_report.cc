// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/hit_report.h"

#include <iterator>
#include <numeric>

#include "cli/base/units.h"
#include "lib/base/text.h"

namespace fkt::record {
namespace {

// By enum fkt_missed.
constexpr const char* kWhyMissed[] = {"memory could not be read",
                                      "too many at once on a CPU",
                                      "began before the recording or the instrument",
                                      "had not the fields that are described",
                                      "the histogram had no room for their keys",
                                      "not seen by the kernel's probe",
                                      "their record was too long"};

std::string why_missed(const fkt_hit_counts& counts) {
  std::string why;
  for (std::size_t i = 0; i < std::size(kWhyMissed); i++) {
    if (counts.missed[i] == 0) continue;
    why += (why.empty() ? " (" : ", ") + cli::with_commas(counts.missed[i]) + ' ' + kWhyMissed[i];
  }
  return why.empty() ? why : why + ')';
}

}  // namespace

std::uint64_t missed_hits(const fkt_hit_counts& counts) {
  return std::accumulate(std::begin(counts.missed), std::end(counts.missed), std::uint64_t{0});
}

std::string hits_line(const InstrumentSetup::Part& part, const fkt_hit_counts& counts) {
  return part.text + ": " + counted(part.places, part.of) + ", " + cli::with_commas(counts.kept) +
         (part.place.kind == Place::Kind::call ? " calls" : " hits") +
         (part.action == Action::Kind::record ? " recorded, " : " counted, ") +
         cli::with_commas(counts.dropped) + " dropped by its condition, " +
         cli::with_commas(missed_hits(counts)) + " missed" + why_missed(counts);
}

}  // namespace fkt::record
