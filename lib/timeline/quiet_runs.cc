// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/quiet_runs.h"

#include "lib/analyse/running_tasks.h"
#include "lib/analyse/tasks.h"

namespace fkt {

QuietWords::QuietWords(const Catalogue& catalogue, const Meanings& meanings) {
  for (const EventType& type : catalogue.events()) {
    // WordTable takes events of this form for switches (lib/read/page_decoder.h).
    const bool as_switch = (type.id & ~0xfU) == FKT_E_SWITCH_R;
    const bool any_task = may_change_tasks(type.id) || is_wake_up(type.id) || type.id == FKT_E_MASK;
    const Meaning& meaning = meanings[type.id];
    quiet_[type.id] = type.words && !as_switch && !any_task && !meaning.async && !meaning.late;
  }
  for (const PairType& pair : catalogue.pairs()) {
    const bool quiet = quiet_[pair.begin] && quiet_[pair.end];
    for (std::uint32_t i = 0; i < pair.count; i++) quiet_[pair.first + i] = quiet;
  }
}

QuietRuns::QuietRuns(const WordTable& table, const Page& page, const QuietWords& quiet) {
  PageDecoder decoder(table, page);
  Event event;
  for (;;) {
    const PageDecoder::Step step = decoder.next(event);
    if (step == PageDecoder::Step::end || step == PageDecoder::Step::damaged) return;
    if (step == PageDecoder::Step::gap || !quiet[event.id]) continue;
    const std::uint32_t progress = decoder.progress();
    if (const PageDecoder::Ahead ahead = decoder.pass_over(quiet); ahead.events > 0) {
      runs_.push_back({progress, ahead});
    }
  }
}

}  // namespace fkt
