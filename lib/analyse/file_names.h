// SPDX-License-Identifier: GPL-2.0-only
// FileNames: the paths of files that a recording tells (events "name"), by device and inode.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "lib/format/catalogue.h"
#include "lib/format/event.h"

namespace fkt {

class FileNames {
 public:
  // Takes the name from an event FKT_E_NAME; the latest one of a file counts.
  void add(const Event& event, const EventType& type);
  // Returns the file's path; empty: it is not known.
  std::string_view find(std::uint64_t device, std::uint64_t inode) const;

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> names_;  // by device and inode
};

}  // namespace fkt
