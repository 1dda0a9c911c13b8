// SPDX-License-Identifier: GPL-2.0-only
// The pages of a file by their offset, be they there as they are or in groups. Any number of
// threads may ask at once; a group is unpacked once for all who want it at about the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/group.h"
#include "lib/page.h"

namespace fkt {

// A page's bytes, and what keeps them in memory.
struct PageBytes {
  ByteView bytes;
  std::shared_ptr<const void> keep;
};

class PageSource {
 public:
  // `begin`: where the page area begins. Pages stand in the file as they are.
  PageSource(ByteView file, std::uint64_t begin, std::uint32_t page_bytes, std::uint64_t recording);
  // Pages stand in groups; their offsets are those that they would have without compression.
  // In memory at one time: as many groups as are being read, and a few more.
  PageSource(ByteView file, std::uint64_t begin, std::uint32_t page_bytes, std::uint64_t recording,
             std::vector<GroupRef> groups);
  PageSource(PageSource&&) noexcept;
  PageSource& operator=(PageSource&&) noexcept;
  ~PageSource();

  ByteView file() const { return file_; }
  // The groups, in file order; empty: pages stand as they are.
  const std::vector<GroupRef>& groups() const { return groups_; }
  // Behind the last page of the groups (offset as a page's).
  std::uint64_t groups_end() const;
  // The page's bytes as they are, fewer where the file ends; an Error (damaged) if its group cannot
  // be unpacked.
  Result<PageBytes> bytes(std::uint64_t offset) const;
  // The page, checked.
  Result<Page> page(std::uint64_t offset) const;
  // A page's events are checked once, if it is one of the first `pages`.
  void remember(std::size_t pages);
  // The page, of which the header alone was checked.
  Result<Page> page_header(std::uint64_t offset) const;

 private:
  class Cache;
  Error hole(std::size_t next) const;

  ByteView file_;
  std::uint64_t begin_;
  std::uint32_t page_bytes_;
  std::uint64_t recording_;
  std::vector<GroupRef> groups_;
  std::unique_ptr<Cache> cache_;  // nothing: pages stand as they are
  class Checked;
  std::unique_ptr<Checked> checked_;  // nothing: each time anew
};

}  // namespace fkt
