// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/kft_head.h"

#include <algorithm>

#include <fkt/events.h>
#include <fkt/kft_text.h>

#include <fmt/core.h>

#include "lib/analyse/analysis.h"
#include "lib/calls/kft_log.h"
#include "lib/format/clocks.h"
#include "lib/read/event_merge.h"

namespace fkt {
namespace {

const InstrumentResult* instrument_at(const Recording& recording, std::uint32_t number) {
  const auto& hits = recording.info().hits;
  return hits && number < hits->instruments.size() ? &hits->instruments[number] : nullptr;
}

// us since the machine's start.
std::uint64_t since_boot(const RecordingInfo& info, std::uint64_t clock) {
  const ClockPair& pair = info.clocks.start;
  const std::uint64_t ns = clock >= pair.clock
                               ? pair.mono_ns + ticks_to_ns(info.clocks, clock - pair.clock)
                               : pair.mono_ns - ticks_to_ns(info.clocks, pair.clock - clock);
  return ns / 1000;
}

// "fn:kernel_clone:entry do start": "entry to function kernel_clone".
std::string moment_text(std::string_view instrument) {
  constexpr std::string_view kEntry = ":entry";
  std::string_view place = instrument.substr(0, instrument.find_first_of(" \t("));
  const bool is_entry = place.ends_with(kEntry);
  if (is_entry) place.remove_suffix(kEntry.size());
  for (const std::string_view kind : {"fn:", "call:"}) {
    if (!place.starts_with(kind)) continue;
    place.remove_prefix(kind.size());
    return (is_entry ? FKT_KFT_TEXT_ENTRY : FKT_KFT_TEXT_EXIT) + std::string(place);
  }
  return "hit of " + std::string(place);
}

std::string end_line(const Recording& recording, const char* what,
                     const std::optional<KftEnds::Hit>& hit, std::uint64_t otherwise) {
  const InstrumentResult* const by = hit ? instrument_at(recording, hit->instrument) : nullptr;
  return fmt::format("{}{}" FKT_KFT_TEXT_BY "{}\n", what,
                     since_boot(recording.info(), hit ? hit->clock : otherwise),
                     by != nullptr ? moment_text(by->text) : std::string("the recorder"));
}

bool has_triggers(const HitResults& hits) {
  return std::ranges::any_of(hits.instruments, [](const InstrumentResult& instrument) {
    return instrument.action == "start" || instrument.action == "stop";
  });
}

// Writes the instruments on calls, and the number of calls that they dropped.
std::string filter_lines(const HitResults& hits) {
  std::string text = "\n" FKT_KFT_TEXT_FILTERS "\n";
  std::uint64_t kept = 0, dropped = 0, missed = 0;
  for (const InstrumentResult& instrument : hits.instruments) {
    if (!instrument.has_calls || instrument.action != "record") continue;
    const Hits all = instrument.hits();
    text += '\t' + instrument.text + '\n';
    kept += all.kept;
    dropped += all.dropped;
    missed += all.all_missed();
  }
  const std::uint64_t too_short = hits.calls ? hits.calls->too_short : 0;
  return text + fmt::format("\n" FKT_KFT_TEXT_COUNTERS "\n" FKT_KFT_TEXT_TOO_SHORT
                            "{}\n" FKT_KFT_TEXT_DROPPED "{}\n" FKT_KFT_TEXT_FILTERED
                            "{}\n" FKT_KFT_TEXT_MISSED "{}\n" FKT_KFT_TEXT_KEPT "{}\n",
                            too_short, dropped, too_short + dropped, missed, kept);
}

}  // namespace

KftEnds find_kft_ends(const Recording& recording) {
  KftEnds ends;
  if (!recording.info().hits || !has_triggers(*recording.info().hits)) return ends;
  for (const Event& event : recording.events({})) {
    if (event.id != FKT_E_HIT) continue;
    const InstrumentResult* const by = instrument_at(recording, event.arg);
    if (by == nullptr) continue;
    if (by->action == "start") ends.begin = {event.clock, event.arg};
    if (by->action == "stop") ends.end = {event.clock, event.arg};
  }
  return ends;
}

std::string kft_head(const Recording& recording, const KftEnds& ends) {
  std::string text =
      fmt::format(FKT_KFT_TEXT_RUN "{}\n\n", recording.info().recording) +
      end_line(recording, FKT_KFT_TEXT_STARTED, ends.begin, recording_start(recording.info())) +
      end_line(recording, FKT_KFT_TEXT_STOPPED, ends.end, recording_end(recording));
  if (recording.info().hits) text += filter_lines(*recording.info().hits);
  return text + '\n' + std::string(kKftZeroIsShort) + "\n\n" FKT_KFT_TEXT_TITLES;
}

}  // namespace fkt
