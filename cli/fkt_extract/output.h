// SPDX-License-Identifier: GPL-2.0-only
// A file that appears under its name only once it is whole. So a slice may even replace the
// recording that it is cut from, which stays mapped meanwhile.
#pragma once

#include <string>

#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt::cli {

class NewFile {
 public:
  // Refuses to replace a file that is not empty, unless `force`.
  static Result<NewFile> create(const std::string& name, bool force);
  NewFile(NewFile&&) = default;
  NewFile& operator=(NewFile&&) = delete;
  // Without keep(), nothing is left of it.
  ~NewFile();

  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }
  Status keep();

 private:
  NewFile(std::string name, std::string temporary, UniqueFd fd)
      : name_(std::move(name)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

  std::string name_, temporary_;
  UniqueFd fd_;
};

}  // namespace fkt::cli
