// SPDX-License-Identifier: GPL-2.0-only
// Appends pages to the output, and keeps their index.
#pragma once

#include <cstdint>
#include <vector>

#include <fkt/file.h>

#include "cli/fkt_record/output/output.h"
#include "lib/base/bytes.h"

namespace fkt::record {

class PageFile {
 public:
  // output: has its head when the first page comes. limit: bytes of pages; 0: none. before: bytes
  // of pages that are there.
  PageFile(const Output& output, std::uint64_t limit, std::uint64_t before = 0)
      : output_(output), before_(before), limit_(limit) {}

  // Returns false if the page was not written: the limit is reached, or error() says why.
  bool add(const fkt_page_header& header, ByteView page);

  bool is_full() const { return full_; }
  int error() const { return error_; }  // errno; 0: none
  std::uint64_t bytes() const { return bytes_; }
  const std::vector<fkt_index_entry>& index() const { return index_; }

 private:
  const Output& output_;
  std::uint64_t before_, limit_, bytes_ = 0;
  std::vector<fkt_index_entry> index_;
  bool full_ = false;
  int error_ = 0;
};

}  // namespace fkt::record
