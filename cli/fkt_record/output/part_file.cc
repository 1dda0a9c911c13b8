// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/output/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace fkt::record {
namespace {

// Size of a block device in bytes; 0 if it is not a block device.
std::uint64_t device_size(int fd) {
  struct stat is {};
  if (::fstat(fd, &is) != 0 || !S_ISBLK(is.st_mode)) return 0;
  const off_t size = ::lseek(fd, 0, SEEK_END);
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

}  // namespace

void count(PartCpus& cpus, const fkt_page_header& page) {
  PartCpu& cpu = cpus[page.cpu];
  cpu.events += page.events;
  cpu.pages++;
  cpu.lost = page.lost;
}

Result<std::unique_ptr<PartFile>> PartFile::open(Output& output, const PartRules& rules) {
  Result<UniqueFd> pages = output.open_for_pages(Output::Access::direct);
  const bool direct = static_cast<bool>(pages);
  if (!direct) pages = output.open_for_pages(Output::Access::cached);
  if (!pages) return pages.error();
  return std::unique_ptr<PartFile>(new PartFile(output, rules, std::move(*pages), direct));
}

Result<std::unique_ptr<PartFile>> PartFile::open(Output output, const PartRules& rules,
                                                 unsigned number, const PartCpus& before) {
  auto own = std::make_unique<Output>(std::move(output));
  auto part = FKT_TRY(open(*own, rules));
  part->own_ = std::move(own);
  part->number_ = number;
  part->before_ = before;
  return part;
}

PartFile::PartFile(Output& output, const PartRules& rules, UniqueFd pages, bool direct)
    : output_(&output),
      rules_(rules),
      pages_(std::move(pages)),
      direct_(direct),
      device_bytes_(device_size(pages_.get())),
      next_(output.pages_offset()),
      space_(next_, Preallocation::Size::grows),
      end_(next_) {}

// Upper bound of the end of the page area.
std::uint64_t PartFile::limit() const {
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  if (rules_.limit != 0) limit = output_->pages_offset() + rules_.limit;
  if (rules_.file_limit != 0) limit = std::min(limit, rules_.file_limit);
  if (device_bytes_ == 0) return limit;
  // A device cannot grow, so the tail must fit behind the pages, including its entries for the
  // pages of the next write.
  const std::uint64_t pages = claimed_pages_ + FKT_GROUP_MAX_BYTES / rules_.page_bytes;
  const std::uint64_t tail = rules_.reserve + rules_.reserve_per_page * pages;
  return std::min(limit, device_bytes_ > tail ? device_bytes_ - tail : 0);
}

std::uint64_t PartFile::room() const {
  return limit() > next_ ? limit() - next_ : 0;
}

int PartFile::claim(std::uint64_t bytes, std::size_t pages, std::uint64_t& offset) {
  const int error = make_room(next_ + bytes, claimed_pages_ + pages);
  if (error != 0) return error;
  offset = next_;
  next_ += bytes;
  claimed_pages_ += pages;
  return 0;
}

int PartFile::make_room(std::uint64_t upto, std::uint64_t pages) {
  const std::uint64_t need = upto + rules_.reserve + rules_.reserve_per_page * pages;
  const std::uint64_t end = limit();
  const auto most = std::numeric_limits<std::uint64_t>::max();
  return space_.make(pages_.get(), need, end > most - rules_.reserve ? most : end + rules_.reserve);
}

void PartFile::claimed(const fkt_page_header& page) {
  count(claimed_cpus_, page);
}

void PartFile::add(const fkt_page_header& page) {
  index_.push_back({page.first_clock, page.end_clock, page.seq, page.cpu, page.events});
  count(cpus_, page);
  end_clock_ = std::max<std::uint64_t>(end_clock_, page.end_clock);
}

void PartFile::add_group(std::uint64_t offset, std::uint32_t pages, std::uint32_t stored_bytes) {
  const std::uint64_t first =
      groups_.empty() ? 0 : groups_.back().first_page + groups_.back().pages;
  groups_.push_back({offset, first, pages, stored_bytes});
}

}  // namespace fkt::record
