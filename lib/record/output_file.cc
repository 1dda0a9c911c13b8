// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include <fkt/file.h>

#include "lib/base/os_error.h"

namespace fkt {

bool holds_fkt_file(int fd) {
  char magic[8];
  return ::pread(fd, magic, sizeof magic, 0) == sizeof magic &&
         std::memcmp(magic, FKT_FILE_MAGIC, sizeof magic) == 0;
}

std::optional<Error> not_replaceable(int fd, std::uint64_t bytes, const std::string& name,
                                     Replace replace) {
  if (bytes == 0 || replace == Replace::anything) return std::nullopt;
  if (!holds_fkt_file(fd)) {
    return Error{ErrorCode::io, name + ": it exists and is no FKT file (--force overwrites it)"};
  }
  if (replace == Replace::recordings) return std::nullopt;
  return Error{ErrorCode::io, name + ": it holds a recording (--force overwrites it)"};
}

Result<UniqueFd> open_output_file(const std::string& name, Replace replace) {
  // Readable by its owner only: a recording shows what all users' processes do.
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
  struct stat is {};
  if (!fd || ::fstat(fd.get(), &is) != 0) return os_failure(name);
  if (!S_ISREG(is.st_mode)) return Error{ErrorCode::io, name + ": it is no regular file"};
  std::optional<Error> refusal =
      not_replaceable(fd.get(), static_cast<std::uint64_t>(is.st_size), name, replace);
  if (refusal) return std::move(*refusal);
  return fd;
}

}  // namespace fkt
