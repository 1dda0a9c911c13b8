// SPDX-License-Identifier: GPL-2.0-only
// A recording in memory and its page area, for tests of what finds and reads pages.
#pragma once

#include <catch2/catch.hpp>

#include <span>
#include <string>
#include <vector>

#include "lib/read/page_index.h"
#include "tests/unit/recording_builder.h"

namespace fkt::test {

struct AreaOfPages {
  static constexpr std::uint32_t kPageBytes = 4096;
  Bytes file;
  std::uint64_t begin = 0, end = 0;  // of the pages in the file
  std::vector<fkt_group_entry> groups;

  // Pages of two CPUs with one event each, whose argument is the page's number in the file: of the
  // five first, three are of CPU 0 and two of CPU 1, in the order 0 0 1 0 1.
  // group_pages: pages in a compressed group; 0: not compressed.
  explicit AreaOfPages(std::size_t group_pages = 0, std::uint32_t pages = 5) {
    RecordingBuilder builder(kPageBytes);
    builder.in_groups(group_pages);
    std::uint64_t clock = T;
    constexpr std::uint32_t cpus[] = {0, 0, 1, 0, 1};
    for (std::uint32_t number = 0; number < pages; number++) {
      const std::uint32_t cpu = cpus[number % 5];
      builder.event(cpu, clock += 100, FKT_E_SYS_ENTRY, number).close_page(cpu);
    }
    file = builder.finish();
    begin = builder.pages_offset();
    end = builder.tail_offset();
    groups = builder.groups();
  }

  PageArea area(bool end_known = true) const {
    return {file, begin, end, end_known, kPageBytes, RecordingBuilder::kRecording};
  }
  std::uint64_t page(std::uint64_t number) const { return begin + number * kPageBytes; }
  // The file's section of this type, with other contents unless `text` is empty.
  Section section(std::uint32_t type, std::string_view text = {}) const {
    for (Section& section : walk_sections(file, end, file.size()).sections) {
      if (section.header.type != type) continue;
      if (text.empty()) return section;
      section.stored = std::as_bytes(std::span(text));
      section.header.stored_bytes = section.header.raw_bytes = text.size();
      section.header.checksum = section_checksum(section.header, section.stored);
      return section;
    }
    FAIL("the file has no such section");
    return {};
  }
};

// The bytes of these entries, as a section holds them.
template <class Entry>
std::string_view text_of(const std::vector<Entry>& entries) {
  return {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(Entry)};
}

template <class Value>
std::string message_of(const Result<Value>& result) {
  return result ? "" : result.error().message;
}

}  // namespace fkt::test
