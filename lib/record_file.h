// SPDX-License-Identifier: GPL-2.0-only
// Which files a recording may be written to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt {

// Does an FKT file begin here? Nothing can be read: no.
bool holds_fkt_file(int fd);

// What a recording may be written over.
enum class Replace {
  nothing,     // only an empty file: what the user named is kept
  recordings,  // an FKT file too: the default name's, which each run replaces
  anything,    // --force
};
// The name is the default one, or the user's; `force`: --force was given.
constexpr Replace replace_rule(bool default_name, bool force) {
  if (force) return Replace::anything;
  return default_name ? Replace::recordings : Replace::nothing;
}

// Why the open file of `bytes` bytes may not be written over; nothing: it may.
std::optional<Error> not_replaceable(int fd, std::uint64_t bytes, const std::string& name,
                                     Replace replace);

// A regular file for a recording, open for reading and writing, new or as it was. A new one is
// readable by its owner alone.
Result<UniqueFd> open_record_file(const std::string& name, Replace replace);

}  // namespace fkt
