// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_extract/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include <fkt/file.h>

#include "lib/os_error.h"

namespace fkt::cli {
namespace {

bool is_recording(const std::string& name) {
  const UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char magic[sizeof FKT_FILE_MAGIC - 1];
  return fd && ::pread(fd.get(), magic, sizeof magic, 0) == sizeof magic &&
         std::string_view(magic, sizeof magic) == FKT_FILE_MAGIC;
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& name, bool force) {
  struct stat is {};
  if (::stat(name.c_str(), &is) == 0) {
    if (!S_ISREG(is.st_mode)) return Error{ErrorCode::io, name + ": it is no file"};
    if (is.st_size > 0 && !force && !is_recording(name)) {
      return Error{ErrorCode::io, name + ": it exists and is no FKT file (--force overwrites it)"};
    }
  }
  // In the same folder, so that it can be renamed; as private as a recording is.
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
