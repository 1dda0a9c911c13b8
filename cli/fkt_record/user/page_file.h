// SPDX-License-Identifier: GPL-2.0-only
// Writes pages to the output, and keeps their index.
#pragma once

#include <cstdint>
#include <map>
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

  // Appends a page, or writes the last one of its CPU again, with more in it. Returns false if the
  // page was not written: the limit is reached, or writing has failed (error()); earlier pages are
  // unchanged.
  bool add(const fkt_page_header& header, ByteView page);

  // Events of the page that are in the file.
  std::uint32_t events_of(const fkt_page_header& header) const;

  bool is_full() const { return full_; }
  int error() const { return error_; }  // errno; 0: none
  std::uint64_t bytes() const { return bytes_; }
  const std::vector<fkt_index_entry>& index() const { return index_; }

 private:
  // The last page of a CPU.
  struct Last {
    std::uint64_t seq = 0;
    std::uint64_t at = 0;  // offset in the file
    std::uint32_t used = 0;
    std::size_t entry = 0;  // in the index
  };

  bool append(const fkt_page_header& header, ByteView page);
  bool write_again(Last& last, const fkt_page_header& header, ByteView page);
  bool write(std::uint64_t at, ByteView bytes);

  const Output& output_;
  std::uint64_t before_, limit_, bytes_ = 0;
  std::vector<fkt_index_entry> index_;
  std::map<std::uint32_t, Last> last_;  // by CPU
  bool full_ = false;
  int error_ = 0;
};

}  // namespace fkt::record
