// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "lib/base/os_error.h"
#include "lib/base/unique_fd.h"

namespace fkt {
namespace {

std::string limit_text(std::size_t bytes) {
  constexpr std::size_t kMebi = 1 << 20;
  return bytes % kMebi == 0 ? std::to_string(bytes / kMebi) + " MiB"
                            : std::to_string(bytes) + " bytes";
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return os_failure(path);
  return read_descriptor(file.get(), path, most);
}

Result<std::string> read_descriptor(int file, const std::string& name, std::size_t most) {
  std::string text;
  std::size_t size = 0;
  for (;;) {
    // One byte more than the limit tells that there is more.
    text.resize(std::min(size + std::max<std::size_t>(4096, size), most + 1));
    const ssize_t got = ::read(file, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_failure(name);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > most) {
      return Error{ErrorCode::usage, name + ": too long (at most " + limit_text(most) + ")"};
    }
  }
  text.resize(size);
  return text;
}

}  // namespace fkt
