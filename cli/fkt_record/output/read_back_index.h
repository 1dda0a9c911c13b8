// SPDX-License-Identifier: GPL-2.0-only
// Builds the index of a finished recording from the headers of its pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fkt/file.h>

#include "lib/base/result.h"
#include "lib/record/device.h"

namespace fkt::record {

// A range of pages in a file.
struct PageRange {
  int fd = -1;
  std::string name;
  std::uint64_t offset = 0;  // of the first page, in bytes
  std::uint64_t pages = 0;
  std::uint32_t page_bytes = 0;
  std::uint64_t recording = 0;
};

// Reads the header of every page back from the file. Returns ErrorCode::damaged if one is not a
// valid page header of this recording.
Result<std::vector<fkt_index_entry>> read_back_index(const PageRange& range);

// The index of all pages of a stopped recording that the module has written. It keeps the entries
// of the last pages; those of the pages before them are read back. Errors as above.
Result<std::vector<fkt_index_entry>> index_of_written(const Device& device, PageRange all);

}  // namespace fkt::record
