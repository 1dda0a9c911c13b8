// SPDX-License-Identifier: GPL-2.0-only
// The places in user programs that are recorded: their form for FKT_START, and their description in
// the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/instruments/numbers.h"
#include "cli/fkt_record/instruments/place_setup.h"
#include "lib/base/result.h"
#include "lib/instrument/user_file.h"
#include "lib/instrument/user_plan.h"

namespace fkt::record {

class UserSetup : public PlaceSetup<fkt_user, fkt_users> {
 public:
  // Returns the file with this name, opened at its first use. Error: there is none, or it is not a
  // program.
  Result<const UserFile*> file(const std::string& name);
  // place: of the plan's instrument; file: of file(); instrument: its number among all of the
  // recording; layer: number of its bit; numbers: of the recording.
  void add(const UserPlan& plan, const Place& place, const UserFile& file, std::uint16_t instrument,
           unsigned layer, Numbers& numbers, const std::optional<AsyncPart>& async);
  // Called once, after the last add(). Error (usage): there are too many places.
  Status finish();
  // Returns the number of the place that FKT_REFUSED names by this address; nothing: it is none of
  // these.
  std::optional<std::uint32_t> number_of(std::uint64_t refused) const;

 private:
  struct Known {
    std::string name;
    std::unique_ptr<UserFile> file;
  };

  std::vector<Known> files_;
  std::uint32_t program_count_ = 0;
};

}  // namespace fkt::record
