// SPDX-License-Identifier: GPL-2.0-only
// Reports that a module was loaded (after its init function) or unloaded, by the kernel's uevents.
#pragma once

#include <string_view>

#include "lib/base/unique_fd.h"

namespace fkt::record {

// Returns whether the message says that a module came or went: "add@/module/NAME", then a zero.
bool is_of_module(std::string_view uevent);

class ModuleWatch {
 public:
  // If the kernel's uevents cannot be received, no change is reported.
  ModuleWatch();

  // Readable when there are messages; -1: there will be none.
  int fd() const { return socket_.get(); }
  // Takes all messages. Returns whether a module came or went, or messages were lost.
  bool take() const;

 private:
  UniqueFd socket_;
};

}  // namespace fkt::record
