// SPDX-License-Identifier: GPL-2.0-only
// The user that the workload runs as and that owns the file.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "lib/base/result.h"

namespace fkt::record {

struct User {
  std::string name, home;
  uid_t uid = 0;
  gid_t gid = 0;
};

// The user `name`, or if it is empty the user who called sudo; nothing if the user is not to be
// changed.
Result<std::optional<User>> choose_user(const std::string& name);

// Changes this process to that user. Returns 0 or errno.
int become(const User& user);

}  // namespace fkt::record
