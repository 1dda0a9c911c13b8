// SPDX-License-Identifier: GPL-2.0-only
// What has been added to the catalogue since the recording began: it goes into the tails of all
// files, and into the heads of those that begin later. Any thread may call it.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "lib/format/definitions.h"

namespace fkt::record {

class Defined {
 public:
  // Called before the module writes these lines into the stream. Returns those that are new.
  std::string add(std::string_view lines) {
    const std::lock_guard lock(mutex_);
    return definitions_.add(lines);
  }
  std::string lines() const {
    const std::lock_guard lock(mutex_);
    return definitions_.lines();
  }

 private:
  mutable std::mutex mutex_;
  Definitions definitions_;
};

}  // namespace fkt::record
