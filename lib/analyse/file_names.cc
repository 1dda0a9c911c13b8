// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/file_names.h"

namespace fkt {

void FileNames::add(const Event& event, const EventType& type) {
  const Field* const device = type.field(event, "dev");
  const Field* const inode = type.field(event, "ino");
  const Field* const path = type.field(event, "path");
  if (device == nullptr || inode == nullptr || path == nullptr) return;
  names_.insert_or_assign(std::pair(EventType::value(*device, event).value_or(0),
                                    EventType::value(*inode, event).value_or(0)),
                          EventType::text(*path, event));
}

std::string_view FileNames::find(std::uint64_t device, std::uint64_t inode) const {
  const auto found = names_.find(std::pair(device, inode));
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace fkt
