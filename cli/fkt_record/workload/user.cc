// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/workload/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "lib/base/parse.h"

namespace fkt::record {
namespace {

User user_of(const passwd& entry) {
  return {entry.pw_name, entry.pw_dir, entry.pw_uid, entry.pw_gid};
}

// Value of an environment variable set by sudo.
std::optional<uid_t> number_of(const char* variable) {
  const char* text = std::getenv(variable);
  uid_t number = 0;
  if (!text || !parse_number(std::string_view(text), number)) return {};
  return number;
}

std::optional<User> caller_of_sudo() {
  const auto uid = number_of("SUDO_UID");
  const auto gid = number_of("SUDO_GID");
  if (::geteuid() != 0 || !uid || !gid || *uid == 0) return {};
  User user{"", "", *uid, *gid};
  if (const passwd* entry = ::getpwuid(*uid)) user = user_of(*entry);
  user.gid = *gid;
  return user;
}

}  // namespace

Result<std::optional<User>> choose_user(const std::string& name) {
  if (name.empty()) return caller_of_sudo();
  const passwd* entry = ::getpwnam(name.c_str());
  if (!entry) return Error{ErrorCode::usage, "--user: no user \"" + name + "\""};
  if (entry->pw_uid == ::geteuid()) return std::optional<User>();
  if (::geteuid() != 0) {
    return Error{ErrorCode::usage, "--user: only root can run the COMMAND as another user"};
  }
  return std::optional<User>(user_of(*entry));
}

int become(const User& user) {
  // A uid without a name in the user database has no supplementary groups.
  const bool groups = user.name.empty() ? ::setgroups(1, &user.gid) == 0
                                        : ::initgroups(user.name.c_str(), user.gid) == 0;
  if (!groups || ::setgid(user.gid) != 0 || ::setuid(user.uid) != 0) return errno;
  return 0;
}

}  // namespace fkt::record
