// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/damage.h"

#include "cli/base/messages.h"
#include "lib/base/mapped_file.h"
#include "lib/read/damage.h"

namespace fkt::cli {

int say_damage(const std::string& file, const Recording& recording, bool listed) {
  const std::string damage = damage_of(recording, listed);
  if (damage.empty()) return kDone;
  warn(input_name(file) + ": " + damage);
  return kFailed;
}

void say_no_events(const std::string& file, const Recording& recording, bool chosen) {
  const char* const all =
      damage_of(recording).empty() ? "no events in the recording" : "no events can be read";
  warn(input_name(file) + ": " + (chosen ? "0 events are selected" : all));
}

int fail(const Error& error, const std::string& file, const Recording& recording) {
  if (error.code == ErrorCode::absent) say_damage(file, recording);
  return fail(error);
}

}  // namespace fkt::cli
