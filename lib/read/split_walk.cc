// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/split_walk.h"

namespace fkt {

SplitRules::SplitRules(Catalogue& catalogue) : table(catalogue), calls(catalogue) {
  if (calls.empty()) return;
  for (std::uint32_t id = 0; id < steps.size(); id++) {
    const std::uint16_t entry = table[id];
    Step& step = steps[id];
    step.entry = entry;
    if (const CallEvent* const call = calls.find(static_cast<std::uint16_t>(id))) {
      step.is_call = true;
      step.call = static_cast<std::uint8_t>(calls.number(*call));
    }
    if (entry <= WordTable::kMaxWords) {
      step.words = entry;
    } else if ((entry & WordTable::kPair) != 0) {
      step.pair = ~0U;
    } else if (entry >= WordTable::kPid) {
      step.special = true;
      step.words = entry == WordTable::kLost ? FKT_LOST_WORDS : 0;
    } else if ((entry & WordTable::kVariable) != 0) {
      step.counted = FKT_VAR_MASK;
    } else {
      step.special = step.is_switch = true;
      step.words = entry & WordTable::kMaxWords;
    }
    step.special |= step.is_call;
    step.alone = !step.special && step.words == 0 && step.counted == 0;
  }
  const SpanKinds kinds(catalogue);
  for (const EventType& type : catalogue.events()) {
    if (type.role == Role::point || !fkt::on_cpu(kinds.of(type))) continue;
    on_cpu[type.id] = type.role == Role::begin ? 1 : -1;
  }
}

}  // namespace fkt
