// SPDX-License-Identifier: GPL-2.0-only
// A file that gets its name only when it is complete. So a slice can replace the recording it is
// read from, which stays mapped meanwhile.
#pragma once

#include <string>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt::cli {

class NewFile {
 public:
  // Creates a temporary file. Returns an error if `name` exists and is not empty, unless `force`.
  static Result<NewFile> create(const std::string& name, bool force);
  NewFile(NewFile&&) = default;
  NewFile& operator=(NewFile&&) = delete;
  // Removes the temporary file unless keep() was called.
  ~NewFile();

  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }
  // Renames the temporary file to its name.
  Status keep();

 private:
  NewFile(std::string name, std::string temporary, UniqueFd fd)
      : name_(std::move(name)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

  std::string name_, temporary_;
  UniqueFd fd_;
};

}  // namespace fkt::cli
