// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/write_file.h"

#include <unistd.h>

#include <cerrno>

#include "lib/base/os_error.h"

namespace fkt {

Status write_all(int fd, ByteView bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return os_failure(name);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return Done{};
}

Status write_at(int fd, ByteView bytes, std::uint64_t offset, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return os_failure(name);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return Done{};
}

}  // namespace fkt
