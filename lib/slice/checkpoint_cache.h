// SPDX-License-Identifier: GPL-2.0-only
// CheckpointCache: the states of a recording at some moments (checkpoints), as found when it was
// read before. The state at any other moment is then computed from the last one before it, not from
// the beginning.
//
// They are stored for later readers in a cache file named after the recording: an FKT file without
// pages that has an FKT_SEC_CUT section for each moment. A file that is damaged, or belongs to
// another recording or version, is ignored; losing it costs only time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/format/checkpoint.h"
#include "lib/read/recording.h"

namespace fkt {

class CheckpointCache {
 public:
  // Minimum distance between two moments, in bytes of all CPUs' pages.
  static constexpr std::uint64_t kLeastApart = 32 << 20;

  // Loads the states of `recording` from `folder`; "": nothing is loaded or stored. There are no
  // moments for some recordings: slices; recordings with missing or damaged pages, whose state
  // depends on where reading begins; flight recordings and parts of
  // recordings, which are short and name tasks by a list made at their end.
  CheckpointCache(const Recording& recording, std::string folder,
                  std::uint64_t apart = kLeastApart);

  // The moments at which a state is worth storing (ticks, ascending).
  const std::vector<std::uint64_t>& moments() const { return moments_; }
  // Returns true if the state at this moment (ticks) is known.
  bool knows(std::uint64_t moment) const { return states_.contains(moment); }
  // Returns the last stored state up to this moment (ticks). Its `to` is the largest possible time.
  std::optional<Checkpoint> before(std::uint64_t moment) const;
  // Adds the state at checkpoint.from; it is ignored if that is not one of moments(). When all
  // states take too much memory, every second moment is dropped.
  void add(const Checkpoint& checkpoint);
  // Writes the states to the folder if any were added. The folder is created if necessary, and must
  // belong to this user.
  Status keep();

 private:
  void plan(const Recording& recording, std::uint64_t apart);
  void load();
  void thin_out();

  std::string folder_;
  std::string file_;       // path of the cache file
  std::uint64_t key_ = 0;  // identifies the recording and its pages
  std::vector<std::uint64_t> moments_;
  std::map<std::uint64_t, std::string> states_;  // by moment, as Checkpoint::to_lines()
  std::uint64_t bytes_ = 0;                      // size of all states' lines
  bool added_ = false;
};

// Returns the folder for files that can be recreated: fkt in $XDG_CACHE_HOME or ~/.cache. Returns
// "" when the folder around it does not belong to this user.
std::string cache_folder();

}  // namespace fkt
