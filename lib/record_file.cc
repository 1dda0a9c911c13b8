// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include <fkt/file.h>

#include "lib/os_error.h"

namespace fkt {

bool holds_fkt_file(int fd) {
  char magic[8];
  return ::pread(fd, magic, sizeof magic, 0) == sizeof magic &&
         std::memcmp(magic, FKT_FILE_MAGIC, sizeof magic) == 0;
}

Result<UniqueFd> open_record_file(const std::string& name, bool force) {
  // What the kernel does is nobody else's business: no permissions for others.
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
  struct stat is {};
  if (!fd || ::fstat(fd.get(), &is) != 0) return os_failure(name);
  if (!S_ISREG(is.st_mode)) return Error{ErrorCode::io, name + ": it is no regular file"};
  if (is.st_size > 0 && !force && !holds_fkt_file(fd.get())) {
    return Error{ErrorCode::io, name + ": it exists and is no FKT file (--force overwrites it)"};
  }
  return fd;
}

}  // namespace fkt
