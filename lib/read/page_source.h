// SPDX-License-Identifier: GPL-2.0-only
// Access to a file's pages by offset, whether they are stored plainly or in compressed groups.
// Thread-safe; a group is unpacked once for all threads that need it at about the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/format/page_group.h"
#include "lib/read/page_decoder.h"

namespace fkt {

// A page's bytes, and a reference that keeps them in memory.
struct PageBytes {
  ByteView bytes;
  std::shared_ptr<const void> keep;
};

class PageSource {
 public:
  // For pages that are stored plainly. `begin`: offset of the page area in the file.
  PageSource(ByteView file, std::uint64_t begin, std::uint32_t page_bytes, std::uint64_t recording);
  // For pages in compressed groups; a page's offset is the one that it would have without
  // compression. Memory holds the groups being read and a few more.
  PageSource(ByteView file, std::uint64_t begin, std::uint32_t page_bytes, std::uint64_t recording,
             std::vector<GroupRef> groups);
  PageSource(PageSource&&) noexcept;
  PageSource& operator=(PageSource&&) noexcept;
  ~PageSource();

  ByteView file() const { return file_; }
  // The groups in file order; empty when pages are stored plainly.
  const std::vector<GroupRef>& groups() const { return groups_; }
  // Returns the offset behind the last page of the groups, counted as pages' offsets are.
  std::uint64_t groups_end() const;
  // Returns the page's bytes unchecked, fewer when the file ends within it. Error (damaged): its
  // group cannot be unpacked.
  Result<PageBytes> bytes(std::uint64_t offset) const;
  // Returns the page after checking its header and events.
  Result<Page> page(std::uint64_t offset) const;
  // From now on the events of the first `pages` pages are checked only once each.
  void remember(std::size_t pages);
  // Returns the page after checking its header only.
  Result<Page> page_header(std::uint64_t offset) const;

 private:
  class Cache;
  Error hole(std::size_t next) const;

  ByteView file_;
  std::uint64_t begin_;
  std::uint32_t page_bytes_;
  std::uint64_t recording_;
  std::vector<GroupRef> groups_;
  std::unique_ptr<Cache> cache_;  // nullptr: pages are stored plainly
  class Checked;
  std::unique_ptr<Checked> checked_;  // nullptr: events are checked each time
};

}  // namespace fkt
