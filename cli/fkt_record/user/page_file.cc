// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/page_file.h"

#include <unistd.h>

#include <cerrno>

namespace fkt::record {

bool PageFile::add(const fkt_page_header& header, ByteView page) {
  if (full_ || error_ != 0) return false;
  if (limit_ != 0 && bytes_ + page.size() > limit_) {
    full_ = true;
    return false;
  }
  const std::uint64_t begin = output_.pages_offset() + before_;
  std::size_t done = 0;
  while (done < page.size()) {
    const ssize_t wrote = ::pwrite(output_.fd(), page.data() + done, page.size() - done,
                                   static_cast<off_t>(begin + bytes_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      error_ = wrote < 0 ? errno : EIO;
      return false;
    }
    done += static_cast<std::size_t>(wrote);
  }
  bytes_ += page.size();
  index_.push_back({header.first_clock, header.end_clock, header.seq, header.cpu, header.events});
  return true;
}

}  // namespace fkt::record
