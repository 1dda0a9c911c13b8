// SPDX-License-Identifier: GPL-2.0-only
// The functions whose calls or entries are recorded, in the form that FKT_START takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <fkt/events.h>

#include "cli/fkt_record/instruments/numbers.h"
#include "cli/fkt_record/instruments/place_setup.h"
#include "lib/base/result.h"
#include "lib/instrument/call_plan.h"
#include "lib/instrument/keep_children.h"

namespace fkt::record {

class CallSetup : public PlaceSetup<fkt_called, fkt_calls> {
 public:
  struct Added {
    std::size_t functions = 0;
    std::size_t by_probe = 0;      // of these, that have a return probe
    std::size_t taken_before = 0;  // functions that earlier instruments have
  };

  // Part of the call that is recorded; the file names the functions accordingly: "vfs_read",
  // "vfs_read:exit".
  enum class Form : std::uint8_t { call, entry, exit };

  // An instrument's number among all of the recording, and its layer.
  struct InstrumentId {
    std::uint16_t instrument = 0;
    fkt_layer layer = FKT_L_INSTRUMENTS;
    // A trigger: it may be on a function that another instrument has, and its hits, which follow
    // those of the other one, are not recorded.
    bool is_trigger = false;
  };

  // Adds the functions that no earlier instrument has. A trigger is also added to functions that
  // have an instrument, and an instrument to functions that have only triggers, unless one of the
  // two uses values that are known only at the entry of a call. numbers: of the recording.
  Added add(CallPlan plan, Form form, const InstrumentId& of, Numbers& numbers,
            const std::optional<AsyncPart>& async);
  // Called once, after the last add(). threads: upper bound of thread numbers, exclusive. keep: the
  // rule of --keep-children; nothing: there is none. Error (usage): there are too many functions.
  Status finish(std::uint32_t threads, const std::optional<KeepChildren>& keep);
  // Returns lines for the file's catalogue: the functions that have a return probe, with the
  // reason.
  const std::string& catalogue_lines() const { return engines_; }

 private:
  // Kinds of the instruments that a function has.
  struct Known {
    bool is_recorded = false;  // one of them is no trigger
    bool is_alone = false;     // it asks at the entry of a call, so there can be no other
    unsigned instruments = 0;
  };
  // Union of the limits of all instruments that record: calls outside of it are never recorded.
  struct Widest {
    std::uint64_t shortest = UINT64_MAX;
    std::uint64_t deepest = 0;
    std::uint32_t contexts = 0;
    void add(const CallLimits& limits);
  };
  void set_keep(const KeepChildren& keep, fkt_keep& k) const;
  bool may_add(const CallPlan& plan, const CallPlan::Taken& taken, Form form,
               const InstrumentId& of);
  void mark_more();

  std::vector<bool> triggers_;                      // as places_, until finish()
  std::unordered_map<std::uint64_t, Known> known_;  // by address
  std::uint32_t program_count_ = 0;
  std::string engines_;
  std::size_t by_probe_ = 0;  // functions that have a return probe
  bool asks_task_ = false;    // cputime or depth
  Widest widest_;
};

}  // namespace fkt::record
