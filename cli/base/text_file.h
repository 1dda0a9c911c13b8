// SPDX-License-Identifier: GPL-2.0-only
// Text files that the tools write.
#pragma once

#include <string>
#include <utility>

#include "lib/base/result.h"
#include "lib/base/text_writer.h"
#include "lib/base/unique_fd.h"

namespace fkt::cli {

// A text file to be written. It may become large, so it is written in pieces while it is produced.
// create() empties an existing file, but returns an error if the file holds a recording. The path
// "-" is standard output.
class TextFile {
 public:
  static Result<TextFile> create(const std::string& path);
  // The text to be written. The caller calls flush() repeatedly, so that it stays small, and at the
  // end.
  TextWriter& out() { return out_; }
  // Writes the buffered text once there are 256 KiB of it, or with `all` any amount.
  Status flush(bool all = false);

 private:
  TextFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Status put_out() const;
  UniqueFd fd_;
  std::string path_;
  TextWriter out_;
};

}  // namespace fkt::cli
