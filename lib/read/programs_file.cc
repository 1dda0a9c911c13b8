// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/programs_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include <fkt/file.h>

#include "lib/base/unique_fd.h"
#include "lib/format/file_header.h"

namespace fkt {

bool has_programs_file(const std::string& path, std::uint64_t id) {
  // Without O_NONBLOCK the open of a pipe would wait for a writer.
  const UniqueFd fd(::open(programs_file(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat is {};
  if (!fd || ::fstat(fd.get(), &is) != 0 || !S_ISREG(is.st_mode)) return false;
  alignas(std::uint64_t) std::array<std::byte, sizeof(fkt_file_header)> bytes{};
  if (::pread(fd.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return false;
  }
  const Result<fkt_file_header> header = read_file_header(bytes);
  return header && header->recording == id;
}

}  // namespace fkt
