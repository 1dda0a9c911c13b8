// SPDX-License-Identifier: GPL-2.0-only
// One output file while pages are written to it: the offset of the next write, the space reserved
// for the tail, and what the file holds so far.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <fkt/file.h>

#include "cli/fkt_record/output/output.h"
#include "lib/format/page_group.h"
#include "lib/record/preallocation.h"

namespace fkt::record {

struct PartRules {
  std::uint64_t recording = 0;  // random id
  std::uint32_t page_bytes = 0;
  std::uint64_t limit = 0;       // bytes of the page area; 0: no limit
  std::uint64_t file_limit = 0;  // bytes of head and page area; 0: no limit
  std::uint64_t reserve = 0;     // bytes kept allocated for the tail
  std::uint32_t reserve_per_page = 0;
};

// Totals of one CPU's pages in a file.
struct PartCpu {
  std::uint64_t events = 0, pages = 0;
  // Events lost on this CPU since the start of the recording, according to its last page.
  std::uint64_t lost = 0;
};

// Key: number of the CPU.
using PartCpus = std::map<std::uint32_t, PartCpu>;

// Adds one page to the totals of its CPU.
void count(PartCpus& cpus, const fkt_page_header& page);

class PartFile {
 public:
  // The head must be written. Pages are written directly (O_DIRECT) if the output supports it.
  static Result<std::unique_ptr<PartFile>> open(Output& output, const PartRules& rules);
  // As above, for an output that the PartFile owns. number: of the file, from 1. before: what the
  // previous files hold, and the events lost up to the start of this one.
  static Result<std::unique_ptr<PartFile>> open(Output output, const PartRules& rules,
                                                unsigned number, const PartCpus& before);

  Output& output() { return *output_; }
  int fd() const { return pages_.get(); }
  bool direct() const { return direct_; }

  // Bytes of pages or groups that fit within the limits.
  std::uint64_t room() const;
  // Assigns the offset of the next write, of `bytes` bytes that hold `pages` pages. Returns 0, or
  // errno if there is no space.
  int claim(std::uint64_t bytes, std::size_t pages, std::uint64_t& offset);
  std::uint64_t claimed_pages() const { return claimed_pages_; }
  // Adds a page of the last claim() to claimed().
  void claimed(const fkt_page_header& page);
  // What the file holds if all writes succeed.
  const PartCpus& claimed() const { return claimed_cpus_; }

  // Adds a page that is written; pages must be added in order.
  void add(const fkt_page_header& page);
  // Adds a group of pages that is written. offset: of the group in the file.
  void add_group(std::uint64_t offset, std::uint32_t pages, std::uint32_t stored_bytes);
  // Sets the end of the written pages.
  void ends_at(std::uint64_t offset) { end_ = offset; }

  std::uint64_t end() const { return end_; }
  std::uint64_t bytes() const { return end_ - output_->pages_offset(); }
  // The latest end_clock (ticks) of the written pages.
  std::uint64_t end_clock() const { return end_clock_; }
  const std::vector<fkt_index_entry>& index() const { return index_; }
  const std::vector<fkt_group_entry>& groups() const { return groups_; }
  const PartCpus& cpus() const { return cpus_; }
  unsigned number() const { return number_; }
  const PartCpus& before() const { return before_; }

 private:
  PartFile(Output& output, const PartRules& rules, UniqueFd pages, bool direct);
  int make_room(std::uint64_t upto, std::uint64_t pages);
  std::uint64_t limit() const;

  std::unique_ptr<Output> own_;  // null if the output belongs to the caller
  Output* output_;
  unsigned number_ = 1;
  PartCpus before_;
  PartRules rules_;
  UniqueFd pages_;
  bool direct_;
  std::uint64_t device_bytes_;  // 0: not a block device
  std::uint64_t next_;          // offset of the next write
  Preallocation space_;
  std::uint64_t claimed_pages_ = 0;
  std::uint64_t end_;
  std::uint64_t end_clock_ = 0;
  std::vector<fkt_index_entry> index_;
  std::vector<fkt_group_entry> groups_;
  PartCpus cpus_, claimed_cpus_;
};

}  // namespace fkt::record
