// SPDX-License-Identifier: GPL-2.0-only
// Tests which functions an instrument gets if other instruments have some, and the order of several
// instruments on one function.
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "cli/fkt_record/instruments/call_setup.h"

using namespace fkt;
using namespace fkt::record;

namespace {

CallSetup::InstrumentId that_triggers(std::uint16_t instrument) {
  return {instrument, FKT_L_INSTRUMENTS, true};
}
CallSetup::InstrumentId that_records(std::uint16_t instrument) {
  return {instrument, FKT_L_INSTRUMENTS, false};
}

// asks_early: whether arguments are asked for at the entry.
CallPlan call_plan_of(const std::vector<std::uint64_t>& addresses, bool asks_early = false) {
  CallPlan plan;
  plan.programs.emplace_back();
  if (asks_early) plan.programs.front().entry = ProgramBlock({fkt_insn{}}, {}, 0);
  for (const std::uint64_t address : addresses) {
    CallPlan::Taken& taken = plan.taken.emplace_back();
    taken.address = address;
    taken.name = "f" + std::to_string(address);
  }
  return plan;
}

struct CallsOrEntries {
  CallSetup setup;
  Numbers numbers{"function", 100};

  // Returns how many functions it gets.
  std::size_t add(CallPlan plan, const CallSetup::InstrumentId& of,
                  CallSetup::Form form = CallSetup::Form::call) {
    return setup.add(std::move(plan), form, of, numbers, std::nullopt).functions;
  }
  // "address:instrument" of each, with "+" if it is a further one.
  std::string finished() {
    REQUIRE(setup.finish(100, std::nullopt));
    std::string text;
    const fkt_calls& calls = setup.arguments();
    const auto* const called = reinterpret_cast<const fkt_called*>(calls.functions);
    for (std::uint32_t i = 0; i < calls.count; i++) {
      text += (called[i].how & FKT_CALLED_MORE) != 0 ? '+' : ' ';
      text += std::to_string(called[i].function) + ':' + std::to_string(called[i].instrument);
    }
    return text;
  }
};

}  // namespace

TEST_CASE("a function has one instrument that records, and triggers behind it") {
  CallsOrEntries setup;
  CHECK(setup.add(call_plan_of({20}), that_triggers(0)) == 1);
  CHECK(setup.add(call_plan_of({10, 20, 30}), that_records(1)) == 3);
  CHECK(setup.add(call_plan_of({20, 30, 40}), that_records(2)) == 1);
  CHECK(setup.add(call_plan_of({10, 20}), that_triggers(3)) == 2);
  CHECK(setup.finished() == " 10:1+10:3 20:1+20:0+20:3 30:1 40:2");
  CHECK(setup.setup.number_of(20) == 2);
}

TEST_CASE("what is held of calls is what the widest of the conditions may want") {
  const auto plan = [](std::uint64_t address, const CallLimits& limits) {
    CallPlan plan = call_plan_of({address});
    plan.programs[0].limits = limits;
    return plan;
  };
  CallsOrEntries setup;
  setup.add(plan(10, {.shortest = 1000, .deepest = 3, .contexts = 1}), that_records(0));
  setup.add(plan(20, {.shortest = 5000, .deepest = 7, .contexts = 1}), that_records(1));
  setup.add(plan(30, {}), that_triggers(2));
  REQUIRE(setup.setup.finish(100, KeepChildren{2, 10}));
  const fkt_calls& calls = setup.setup.arguments();
  CHECK(calls.threads == 100);
  CHECK(calls.keep.where == FKT_KEEP_IN_TASK);
  CHECK(calls.keep.shortest == 100);
  CHECK(calls.keep.levels == 2);
  CHECK(calls.keep.percent == 10);
  CHECK(calls.keep.deepest == 7);
  CallsOrEntries wide;
  wide.add(plan(10, {.shortest = 1000, .deepest = 3, .contexts = 1}), that_records(0));
  wide.add(plan(20, {}), that_records(1));
  REQUIRE(wide.setup.finish(100, KeepChildren{0, 10}));
  CHECK(wide.setup.arguments().keep.where == (FKT_KEEP_IN_TASK | FKT_KEEP_IN_INTERRUPT));
  CHECK(wide.setup.arguments().keep.shortest == 0);
  CHECK(wide.setup.arguments().keep.deepest == 0);
  CallsOrEntries none;
  none.add(plan(10, {}), that_triggers(0));
  REQUIRE(none.setup.finish(100, KeepChildren{}));
  CHECK(none.setup.arguments().keep.where == 0);
  CHECK(none.setup.arguments().threads == 0);
}

TEST_CASE("as many triggers on a function as the module takes") {
  CallsOrEntries setup;
  CHECK(setup.add(call_plan_of({10}), that_records(0)) == 1);
  for (std::uint16_t i = 1; i <= FKT_CALLED_MORE_MOST; i++) {
    CHECK(setup.add(call_plan_of({10}), that_triggers(i)) == 1);
  }
  CHECK(setup.add(call_plan_of({10}), that_triggers(100)) == 0);
}

TEST_CASE(
    "what asks at the entry of a call has the function alone, at the entry alone it need not") {
  CallsOrEntries calls;
  CHECK(calls.add(call_plan_of({10}, true), that_triggers(0)) == 1);
  CHECK(calls.add(call_plan_of({10, 20}), that_records(1)) == 1);
  CHECK(calls.add(call_plan_of({20}, true), that_triggers(2)) == 0);
  CHECK(calls.finished() == " 10:0 20:1");
  CallsOrEntries entries;
  CHECK(entries.add(call_plan_of({10}, true), that_triggers(0), CallSetup::Form::entry) == 1);
  CHECK(entries.add(call_plan_of({10}), that_records(1), CallSetup::Form::entry) == 1);
  CHECK(entries.finished() == " 10:1+10:0");
}
