// SPDX-License-Identifier: GPL-2.0-only
// Which existing files a recording may overwrite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt {

// Returns whether the open file begins as an FKT file does; false when it cannot be read.
bool holds_fkt_file(int fd);

// Which contents of an existing file a recording may overwrite.
enum class Replace {
  nothing,     // only an empty file: for a name that the user gave
  recordings,  // also an FKT file: for the default name, which each run overwrites
  anything,    // any file: --force
};
// default_name: the user gave no name. force: --force was given.
constexpr Replace replace_rule(bool default_name, bool force) {
  if (force) return Replace::anything;
  return default_name ? Replace::recordings : Replace::nothing;
}

// Returns why the open file of `bytes` bytes may not be overwritten, or nothing when it may be.
std::optional<Error> not_replaceable(int fd, std::uint64_t bytes, const std::string& name,
                                     Replace replace);

// Opens a regular file for a recording, for reading and writing, without truncating it. Creates it
// readable by its owner only when it does not exist. Errors: it is no regular file, or `replace`
// does not allow to overwrite what it contains.
Result<UniqueFd> open_output_file(const std::string& name, Replace replace);

}  // namespace fkt
