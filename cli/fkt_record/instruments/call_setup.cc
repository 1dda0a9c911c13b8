// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/call_setup.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fkt::record {
namespace {

const char* suffix(CallSetup::Form form) {
  switch (form) {
    case CallSetup::Form::entry:
      return ":entry";
    case CallSetup::Form::exit:
      return ":exit";
    default:
      return "";
  }
}

}  // namespace

// Returns whether the function can have this instrument besides those that it has.
bool CallSetup::may_add(const CallPlan& plan, const CallPlan::Taken& taken, Form form,
                        const InstrumentId& of) {
  const bool asks_early =
      form != Form::entry && plan.programs[taken.programs].entry.program().insns != 0;
  const auto [place, is_first] = known_.try_emplace(taken.address);
  Known& known = place->second;
  if (!is_first && (asks_early || known.is_alone || (!of.is_trigger && known.is_recorded) ||
                    known.instruments > FKT_CALLED_MORE_MOST)) {
    return false;
  }
  known.instruments++;
  known.is_alone |= asks_early;
  known.is_recorded |= !of.is_trigger;
  return true;
}

CallSetup::Added CallSetup::add(CallPlan plan, Form form, const InstrumentId& of, Numbers& numbers,
                                const std::optional<AsyncPart>& async) {
  const std::uint32_t first_program = program_count_;
  for (const CallPrograms& programs : plan.programs) {
    add_program(programs.entry);
    add_program(programs.exit);
    program_count_++;
    asks_task_ |= programs.asks_task;
  }
  // Functions with the same values get numbers that follow each other: one line of the catalogue
  // describes them.
  if (!std::ranges::is_sorted(plan.taken, {}, &CallPlan::Taken::programs)) {
    std::ranges::stable_sort(plan.taken, {}, &CallPlan::Taken::programs);
  }
  Added added;
  for (CallPlan::Taken& taken : plan.taken) {
    if (!may_add(plan, taken, form, of)) {
      added.taken_before++;
      continue;
    }
    const bool by_probe = !taken.by_probe.empty();
    const std::uint32_t number = numbers.add(taken.name + suffix(form),
                                             plan.programs[taken.programs].fields, of.layer, async);
    if (by_probe) {
      engines_ += "engine\tfunction\t" + std::to_string(number) + "\treturn probe\t" +
                  taken.by_probe + '\n';
    }
    places_.push_back(
        {.function = taken.address,
         .shortest = plan.programs[taken.programs].limits.shortest,
         .number = number,
         .program = static_cast<std::uint16_t>(first_program + taken.programs),
         .instrument = of.instrument,
         .how = (by_probe ? FKT_CALLED_BY_PROBE : 0U) | (form == Form::exit ? FKT_CALLED_EXIT : 0U),
         .pad = 0});
    triggers_.push_back(of.is_trigger);
    if (!of.is_trigger) widest_.add(plan.programs[taken.programs].limits);
    added.functions++;
    added.by_probe += by_probe ? 1 : 0;
  }
  by_probe_ += added.by_probe;
  return added;
}

// Sorts the functions by address, behind each its triggers.
void CallSetup::mark_more() {
  std::vector<std::size_t> order(places_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [this](std::size_t i) {
    return std::pair(places_[i].function, static_cast<bool>(triggers_[i]));
  });
  std::vector<fkt_called> sorted;
  for (const std::size_t i : order) {
    const bool is_more = !sorted.empty() && sorted.back().function == places_[i].function;
    sorted.push_back(places_[i]);
    if (is_more) sorted.back().how |= FKT_CALLED_MORE;
  }
  places_ = std::move(sorted);
}

void CallSetup::Widest::add(const CallLimits& limits) {
  shortest = std::min(shortest, limits.shortest);
  deepest = std::max<std::uint64_t>(deepest, limits.deepest == 0 ? UINT64_MAX : limits.deepest);
  contexts |= limits.contexts;
}

// Calls shorter than this percentage of the shortest recorded duration are not held.
void CallSetup::set_keep(const KeepChildren& keep, fkt_keep& k) const {
  constexpr std::uint32_t kTask = 1U << FKT_LEVEL_TASK;
  k.shortest = widest_.shortest / 100 * keep.percent;
  k.where = ((widest_.contexts & kTask) != 0 ? FKT_KEEP_IN_TASK : 0U) |
            ((widest_.contexts & ~kTask) != 0 ? FKT_KEEP_IN_INTERRUPT : 0U);
  k.levels = keep.levels;
  k.percent = keep.percent;
  k.deepest = widest_.deepest > UINT32_MAX ? 0 : static_cast<std::uint32_t>(widest_.deepest);
}

Status CallSetup::finish(std::uint32_t threads, const std::optional<KeepChildren>& keep) {
  if (by_probe_ > FKT_RETURN_PROBES_MOST) {
    return too_many("functions need return probes", FKT_RETURN_PROBES_MOST);
  }
  if (places_.size() > FKT_CALLS_MOST || program_count_ > UINT16_MAX ||
      programs_.size() > FKT_CALLS_PROGRAM_BYTES) {
    Error error = too_many("functions", FKT_CALLS_MOST);
    error.message += ", or too many different kinds of values";
    return error;
  }
  mark_more();
  fkt_calls& a = set_arguments(&fkt_calls::functions);
  a.program_count = program_count_;
  // If no instrument records calls, or none is left by its condition, there is nothing to keep.
  const bool keeps = keep && widest_.contexts != 0;
  a.threads = asks_task_ || keeps ? threads : 0;
  if (keeps) set_keep(*keep, a.keep);
  return Done{};
}

}  // namespace fkt::record
