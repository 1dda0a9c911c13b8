// SPDX-License-Identifier: GPL-2.0-only
// The index of a finished recording, from its pages' headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fkt/file.h>

#include "lib/result.h"

namespace fkt::record {

// Where the pages stand in a file.
struct PageRange {
  int fd = -1;
  std::string name;
  std::uint64_t offset = 0;  // of the first one
  std::uint64_t pages = 0;
  std::uint32_t page_bytes = 0;
  std::uint64_t recording = 0;
};

// Reads every page's header back; a header that is not the recording's is an error.
Result<std::vector<fkt_index_entry>> read_back_index(const PageRange& range);

}  // namespace fkt::record
