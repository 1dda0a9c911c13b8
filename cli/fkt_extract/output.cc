// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_extract/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/os_error.h"
#include "lib/record/output_file.h"

namespace fkt::cli {
Result<NewFile> NewFile::create(const std::string& name, bool force) {
  struct stat is {};
  if (::stat(name.c_str(), &is) == 0) {
    if (!S_ISREG(is.st_mode)) return Error{ErrorCode::io, name + ": it is no file"};
    const UniqueFd old(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    std::optional<Error> refusal = not_replaceable(
        old.get(), static_cast<std::uint64_t>(is.st_size), name, replace_rule(false, force));
    if (refusal) return std::move(*refusal);
  }
  // In the same directory, so that it can be renamed. mkostemp(3) creates it with mode 0600, which
  // a recording needs.
  std::string temporary = name + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return os_failure(name);
  return NewFile(name, std::move(temporary), std::move(fd));
}

NewFile::~NewFile() {
  if (fd_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

Status NewFile::keep() {
  if (::rename(temporary_.c_str(), name_.c_str()) != 0) return os_failure(name_);
  temporary_.clear();
  return Done{};
}

}  // namespace fkt::cli
