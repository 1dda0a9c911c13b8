// SPDX-License-Identifier: GPL-2.0-only
// Known states: what earlier readers found a recording's state to be at some moments, so that its
// state anywhere else is read from the nearest of them on and not from the beginning.
//
// They are kept for later readers in a file beside others like it, named after the recording. It is
// an FKT file without pages that holds a FKT_SEC_CUT for each moment. Nothing but time is lost with
// it: a file that is damaged, or of another recording or version, is as good as none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/cut.h"
#include "lib/trace.h"

namespace fkt {

class KnownStates {
 public:
  // Pages between two moments, together, take at least so many bytes.
  static constexpr std::uint64_t kLeastApart = 32 << 20;

  // Those of `trace` that are kept in `folder`; "": none are, nor will be. There are none of a
  // slice; of a recording of which something is missing: what that hides depends on where one
  // begins to read; of a flight recorder's and of a part of a recording, which are short and name
  // tasks by a list of their end.
  KnownStates(const Trace& trace, std::string folder, std::uint64_t apart = kLeastApart);

  // Where a state may be worth knowing (ticks, ascending).
  const std::vector<std::uint64_t>& moments() const { return moments_; }
  bool knows(std::uint64_t moment) const { return states_.contains(moment); }
  // The last one that is known up to this moment (ticks). Its `to` is the end of all time.
  std::optional<Cut> before(std::uint64_t moment) const;
  // The state at cut.from; no other than one of moments() is kept. Where all together would take
  // too much room, every second moment goes.
  void add(const Cut& cut);
  // Writes them to the folder, if any were added. It must be ours or possible to make.
  Status keep();

 private:
  void plan(const Trace& trace, std::uint64_t apart);
  void load();
  void thin_out();

  std::string folder_;
  std::string file_;       // in it
  std::uint64_t key_ = 0;  // of the recording, as far as the states depend on it
  std::vector<std::uint64_t> moments_;
  std::map<std::uint64_t, std::string> states_;  // as Cut::to_lines()
  std::uint64_t bytes_ = 0;                      // of all states' lines
  bool added_ = false;
};

// Where this user's tools keep what can be found again: fkt in $XDG_CACHE_HOME or ~/.cache; "":
// nowhere, for the folder around it is not this user's own.
std::string cache_folder();

}  // namespace fkt
