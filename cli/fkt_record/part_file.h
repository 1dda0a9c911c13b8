// SPDX-License-Identifier: GPL-2.0-only
// One output file while pages are written to it: where the next ones go, the room that is kept for
// what is written behind them, and what it holds so far.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <fkt/file.h>

#include "cli/fkt_record/output.h"
#include "lib/group.h"
#include "lib/space_ahead.h"

namespace fkt::record {

struct PartRules {
  std::uint64_t recording = 0;  // id
  std::uint32_t page_bytes = 0;
  std::uint64_t limit = 0;       // bytes of the page area; 0: no limit
  std::uint64_t file_limit = 0;  // bytes of head and page area; 0: no limit
  std::uint64_t reserve = 0;     // bytes kept allocated behind it
  std::uint32_t reserve_per_page = 0;
};

// What one CPU's pages in a file add up to.
struct PartCpu {
  std::uint64_t events = 0, pages = 0;
  std::uint64_t lost = 0;  // on this CPU since the recording's start, as its last page says
};

// By CPU.
using PartCpus = std::map<std::uint32_t, PartCpu>;

// Adds one page.
void count(PartCpus& cpus, const fkt_page_header& page);

class PartFile {
 public:
  // The output's head is written. Pages go directly where that can be.
  static Result<std::unique_ptr<PartFile>> open(Output& output, const PartRules& rules);
  // The same of an output that it keeps: the file of that number, from 1; `before`: what the files
  // before it hold together, and the events lost up to its begin.
  static Result<std::unique_ptr<PartFile>> open(Output output, const PartRules& rules,
                                                unsigned number, const PartCpus& before);

  Output& output() { return *output_; }
  int fd() const { return pages_.get(); }
  bool direct() const { return direct_; }

  // Bytes of pages or groups that the limits leave room for.
  std::uint64_t room() const;
  // The next place, for so many bytes that hold `pages` pages; 0, or why there is none (errno).
  int claim(std::uint64_t bytes, std::size_t pages, std::uint64_t& offset);
  std::uint64_t claimed_pages() const { return claimed_pages_; }
  // The pages of the last claim, for claimed().
  void claimed(const fkt_page_header& page);
  // What it holds if nothing fails.
  const PartCpus& claimed() const { return claimed_cpus_; }

  // These pages are in the file, behind those before.
  void add(const fkt_page_header& page);
  void add_group(std::uint64_t offset, std::uint32_t pages, std::uint32_t stored_bytes);
  // ... and end there.
  void ends_at(std::uint64_t offset) { end_ = offset; }

  std::uint64_t end() const { return end_; }
  std::uint64_t bytes() const { return end_ - output_->pages_offset(); }
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

  std::unique_ptr<Output> own_;  // or somebody else's
  Output* output_;
  unsigned number_ = 1;
  PartCpus before_;
  PartRules rules_;
  UniqueFd pages_;
  bool direct_;
  std::uint64_t device_bytes_;  // 0: a file
  std::uint64_t next_;          // where the next bytes go
  SpaceAhead space_;
  std::uint64_t claimed_pages_ = 0;
  std::uint64_t end_;
  std::uint64_t end_clock_ = 0;
  std::vector<fkt_index_entry> index_;
  std::vector<fkt_group_entry> groups_;
  PartCpus cpus_, claimed_cpus_;
};

}  // namespace fkt::record
