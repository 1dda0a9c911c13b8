// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/page_file.h"

#include <unistd.h>

#include <cerrno>

namespace fkt::record {

bool PageFile::write(std::uint64_t at, ByteView bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::pwrite(output_.fd(), bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(at + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      error_ = wrote < 0 ? errno : EIO;
      return false;
    }
    done += static_cast<std::size_t>(wrote);
  }
  return true;
}

bool PageFile::add(const fkt_page_header& header, ByteView page) {
  if (full_ || error_ != 0) return false;
  const auto last = last_.find(header.cpu);
  if (last == last_.end() || last->second.seq != header.seq) return append(header, page);
  return write_again(last->second, header, page);
}

bool PageFile::append(const fkt_page_header& header, ByteView page) {
  if (limit_ != 0 && bytes_ + page.size() > limit_) {
    full_ = true;
    return false;
  }
  const std::uint64_t at = output_.pages_offset() + before_ + bytes_;
  if (!write(at, page)) return false;
  last_[header.cpu] = {header.seq, at, header.used, index_.size()};
  bytes_ += page.size();
  index_.push_back({header.first_clock, header.end_clock, header.seq, header.cpu, header.events});
  return true;
}

// The header comes last, in one small write: if this process is killed in between, the page is as
// it was before.
bool PageFile::write_again(Last& last, const fkt_page_header& header, ByteView page) {
  if (!write(last.at + last.used, page.subspan(last.used, header.used - last.used)) ||
      !write(last.at, page.first(header.header_bytes)))
    return false;
  last.used = header.used;
  index_[last.entry].end_clock = header.end_clock;
  index_[last.entry].events = header.events;
  return true;
}

std::uint32_t PageFile::events_of(const fkt_page_header& header) const {
  const auto last = last_.find(header.cpu);
  const bool any = last != last_.end() && last->second.seq == header.seq;
  return any ? index_[last->second.entry].events : 0;
}

}  // namespace fkt::record
