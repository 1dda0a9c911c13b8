// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/output/read_back_index.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/base/progress.h"
#include "lib/base/os_error.h"
#include "lib/base/text.h"

namespace fkt::record {
namespace {

// Number of page headers read ahead. After direct writes they are not in the page cache, and a disk
// reads many in parallel much faster than one after the other.
constexpr std::uint64_t kBatch = 256;

bool is_page_of(const fkt_page_header& header, const PageRange& range) {
  return header.magic == FKT_PAGE_MAGIC && header.recording == range.recording &&
         header.page_bytes == range.page_bytes && header.checksum == fkt_page_checksum(&header);
}

}  // namespace

Result<std::vector<fkt_index_entry>> read_back_index(const PageRange& range) {
  std::vector<fkt_index_entry> index;
  index.reserve(range.pages);
  cli::Progress progress("writing the index");
  ::posix_fadvise(range.fd, 0, 0, POSIX_FADV_RANDOM);
  for (std::uint64_t page = 0; page < range.pages; ++page) {
    if (page % kBatch == 0) {
      const std::uint64_t end = std::min(page + kBatch, range.pages);
      for (std::uint64_t ahead = page; ahead < end; ++ahead) {
        ::posix_fadvise(range.fd, static_cast<off_t>(range.offset + ahead * range.page_bytes),
                        sizeof(fkt_page_header), POSIX_FADV_WILLNEED);
      }
      progress.update(page, range.pages);
    }
    const std::uint64_t offset = range.offset + page * range.page_bytes;
    fkt_page_header header{};
    if (::pread(range.fd, &header, sizeof header, static_cast<off_t>(offset)) != sizeof header ||
        !is_page_of(header, range)) {
      return Error{ErrorCode::damaged, range.name + ": the page at offset " + hex(offset) +
                                           " does not read back as it was written"};
    }
    index.push_back({header.first_clock, header.end_clock, header.seq, header.cpu, header.events});
  }
  return index;
}

Result<std::vector<fkt_index_entry>> index_of_written(const Device& device, PageRange all) {
  std::vector<fkt_index_entry> kept(std::min<std::uint64_t>(all.pages, FKT_INDEX_PAGES));
  if (!device.index(all.pages - kept.size(), kept)) kept.clear();
  all.pages -= kept.size();
  Result<std::vector<fkt_index_entry>> index = read_back_index(all);
  if (index) index->insert(index->end(), kept.begin(), kept.end());
  return index;
}

}  // namespace fkt::record
