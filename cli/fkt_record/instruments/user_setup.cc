// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/user_setup.h"

#include <algorithm>
#include <utility>

namespace fkt::record {

Result<const UserFile*> UserSetup::file(const std::string& name) {
  const auto known = std::ranges::find(files_, name, &Known::name);
  if (known != files_.end()) return known->file.get();
  const auto path = FKT_TRY(find_user_file(name, UserPaths::of_system()));
  auto opened = FKT_TRY(UserFile::open(path));
  files_.push_back({name, std::make_unique<UserFile>(std::move(opened))});
  return files_.back().file.get();
}

namespace {

__u32 how_of(const Place& place) {
  if (place.kind == Place::Kind::user_probe) return FKT_USER_PROBE;
  switch (place.point) {
    case Place::Point::call:
      return FKT_USER_CALL;
    case Place::Point::exit:
      return FKT_USER_EXIT;
    default:
      return FKT_USER_REACHED;
  }
}

}  // namespace

void UserSetup::add(const UserPlan& plan, const Place& place, const UserFile& file,
                    std::uint16_t instrument, unsigned layer, Numbers& numbers,
                    const std::optional<AsyncPart>& async) {
  for (const UserPlan::Taken& taken : plan.taken) {
    const CallPrograms& programs = plan.programs[taken.programs];
    places_.push_back({.offset = taken.offset,
                       .counter = taken.counter,
                       .file = file.fd(),
                       .number = numbers.add(taken.name, programs.fields, layer, async),
                       .program = static_cast<std::uint16_t>(program_count_ + taken.programs),
                       .instrument = instrument,
                       .how = how_of(place)});
  }
  for (const CallPrograms& programs : plan.programs) {
    add_program(programs.entry);
    add_program(programs.exit);
    program_count_++;
  }
}

Status UserSetup::finish() {
  if (places_.size() > FKT_USERS_MOST || programs_.size() > FKT_CALLS_PROGRAM_BYTES) {
    return too_many("places in user programs", FKT_USERS_MOST);
  }
  set_arguments(&fkt_users::places).program_count = program_count_;
  return Done{};
}

std::optional<std::uint32_t> UserSetup::number_of(std::uint64_t refused) const {
  if (refused == 0 || refused > places_.size()) return std::nullopt;
  return places_[refused - 1].number;
}

}  // namespace fkt::record
