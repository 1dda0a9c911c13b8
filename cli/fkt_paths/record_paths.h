// SPDX-License-Identifier: GPL-2.0-only
// Has fkt_record record the instruments on a function's paths while a command runs.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.h"
#include "lib/blocks/function_paths.h"

namespace fkt::cli {

// A folder for the recording, which is removed with all that is in it when this ends.
class TemporaryFolder {
 public:
  // Makes it where TMPDIR says, or in /tmp.
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: it is another's
};

struct PathsRequest {
  std::string file;                  // of the recording
  bool only = false;                 // the command and its descendants alone
  std::vector<std::string> options;  // more of fkt_record
  std::vector<std::string> command;
};

// Returns fkt_record's exit status. Error: it cannot be run.
Result<int> record_paths(const FunctionPaths& paths, const PathsRequest& request);

}  // namespace fkt::cli
