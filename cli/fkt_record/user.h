// SPDX-License-Identifier: GPL-2.0-only
// As whom the workload runs, and who gets the file.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "lib/result.h"

namespace fkt::record {

struct User {
  std::string name, home;
  uid_t uid = 0;
  gid_t gid = 0;
};

// The user to change to: `name`, else sudo's caller; nothing when nobody is to be changed.
Result<std::optional<User>> choose_user(const std::string& name);

// Makes this process that user. An errno, or 0.
int become(const User& user);

}  // namespace fkt::record
