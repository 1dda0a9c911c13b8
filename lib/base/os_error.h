// SPDX-License-Identifier: GPL-2.0-only
// The system's description of a failed call, in the form of this project's error lines.
#pragma once

#include <cctype>
#include <cerrno>
#include <string>
#include <system_error>

#include "lib/base/result.h"

namespace fkt {

// "no space left on device"
inline std::string os_error(int number) {
  std::string text = std::generic_category().message(number);
  // Lowers the first letter, but not of an abbreviation: "RPC struct is bad" stays.
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1]))) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

// Returns the error "SUBJECT: no space left on device" for `number`.
inline Error os_failure(const std::string& subject, int number = errno) {
  return {ErrorCode::io, subject + ": " + os_error(number)};
}

}  // namespace fkt
