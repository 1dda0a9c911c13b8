// SPDX-License-Identifier: GPL-2.0-only
// Builds an FKT recording in memory, event by event, in the form that the module and fkt_record
// write.
//
//   RecordingBuilder b;                               // 4 KiB pages, 1 GHz clock from tick
//   1'000'000 b.pid(0, 42);                                 // cpu 0 runs thread 42 from now on
//   b.event(0, 1'000'100, FKT_E_SYS_ENTRY, 39);   // cpu, clock, id, argument
//   b.event(0, 1'000'200, FKT_E_SWITCH_S, 43);    // sets the thread like the module does
//   b.event(1, 1'000'150, FKT_E_FORK, 43, {fork_word});
//   fkt::Result<fkt::Recording> trace = fkt::Recording::from_bytes(b.finish());
//
// TIME words, page changes, page headers, the index and the totals are added automatically. Clocks
// must not go back on a CPU. To test damage, change the bytes of the finished file.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fkt/events.h>
#include <fkt/file.h>

#include "lib/format/catalogue.h"

namespace fkt::test {

using Bytes = std::vector<std::byte>;

class RecordingBuilder {
 public:
  static constexpr std::uint64_t kRecording = 0x1122334455667788;
  static constexpr std::uint64_t kStart = 1'000'000;  // ticks; 1 tick = 1 ns
  // Wall clock at kStart: 2001-09-09 01:46:40 UTC.
  static constexpr std::uint64_t kStartReal = 1'000'000'000'000'000'000;

  explicit RecordingBuilder(std::uint32_t page_bytes = 4096);

  // Replaces the payload of a section; a section with an empty payload is omitted.
  RecordingBuilder& section(std::uint32_t type, std::string text);

  // As section(), with a payload that is already compressed. raw_bytes: its uncompressed size.
  RecordingBuilder& packed_section(std::uint32_t type, std::string frame, std::uint64_t raw_bytes);

  // Appends an event, preceded by a TIME word if one is needed.
  RecordingBuilder& event(std::uint32_t cpu, std::uint64_t clock, std::uint32_t id,
                          std::uint32_t arg = 0, std::initializer_list<std::uint64_t> words = {});

  // As above, with as many words as `words` has.
  RecordingBuilder& long_event(std::uint32_t cpu, std::uint64_t clock, std::uint32_t id,
                               std::uint32_t arg, std::span<const std::uint64_t> words);

  // Appends an event that adds these lines to the catalogue.
  RecordingBuilder& define(std::uint32_t cpu, std::uint64_t clock, std::string_view lines);

  // Thread `pid` runs on `cpu` from the next word on: appends a PID word, or at the start of a page
  // sets it in the header.
  RecordingBuilder& pid(std::uint32_t cpu, std::uint32_t pid);

  // Adds a gap: closes the page and begins the next one with a LOST word. count: events lost in
  // this gap. from, clock: begin and end of the gap.
  RecordingBuilder& lost(std::uint32_t cpu, std::uint64_t from, std::uint64_t clock,
                         std::uint64_t count);

  // Closes the page of the CPU; the next event begins a new one.
  RecordingBuilder& close_page(std::uint32_t cpu);

  // Skips `count` sequence numbers of the CPU's pages.
  RecordingBuilder& skip_pages(std::uint32_t cpu, std::uint64_t count);

  // Stream: a tail after the pages, but tail_offset is 0.
  enum class Tail { finished, none, stream };

  // Closes open pages in the order of CPU numbers and returns the file.
  Bytes finish(Tail tail = Tail::finished);

  // Compresses the pages in groups of `pages` pages.
  RecordingBuilder& in_groups(std::size_t pages);
  // Valid after finish(): the entries of the groups.
  const std::vector<fkt_group_entry>& groups() const { return groups_; }

  // As finish(), but writes the file to `path`.
  void write(const std::string& path, Tail tail = Tail::finished);

  // Valid after finish(): offsets in the file.
  std::uint64_t pages_offset() const { return pages_offset_; }
  std::uint64_t page_offset(std::uint64_t number) const {
    return pages_offset_ + number * page_bytes_;
  }
  std::uint64_t tail_offset() const { return tail_offset_; }

  // Computes the checksums of the page at `offset` again, after its header or words were changed.
  static void sign_page(Bytes& bytes, std::uint64_t offset);

  template <class T>
  static T get(const Bytes& bytes, std::uint64_t offset) {
    T value;
    assert(offset + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  template <class T>
  static void put(Bytes& bytes, std::uint64_t offset, const T& value) {
    assert(offset + sizeof value <= bytes.size());
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  }

 private:
  struct Cpu {
    Bytes page;                    // the open page; empty: none
    std::uint64_t clock = kStart;  // of the last word
    std::uint64_t end = kStart;    // of the last event, which may be the end in a pair's word
    std::uint64_t seq = 0;
    std::uint64_t lost = 0;
    std::uint64_t total = 0;
    std::uint32_t pid = 0;
    std::uint32_t events = 0;  // in the open page
  };

  static std::string clock_pair(std::uint64_t clock);

  void append(std::uint32_t cpu, std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
              std::span<const std::uint64_t> words, bool is_event);

  // The ids of pairs follow all others, those of a catalogue of the test's own too.
  static bool is_joined_pair(std::uint32_t id, std::uint32_t arg) {
    return id >= FKT_P_SYSCALL && arg != 0;
  }

  static void append_word(Bytes& page, std::uint64_t word);

  void append_section(Bytes& file, std::uint32_t type, std::string_view text) const;

  void append_groups(Bytes& file);

  void append_tail(Bytes& file);

  std::uint32_t page_bytes_;
  std::map<std::uint32_t, std::string> sections_;
  std::map<std::uint32_t, std::uint64_t> packed_;  // uncompressed bytes of compressed sections
  std::map<std::uint32_t, Cpu> cpus_;
  std::vector<fkt_index_entry> index_;
  Bytes pages_;
  std::size_t group_pages_ = 0;  // 0: pages are not compressed
  std::vector<fkt_group_entry> groups_;
  std::uint64_t pages_offset_ = 0;
  std::uint64_t tail_offset_ = 0;
};

inline constexpr std::uint64_t T = RecordingBuilder::kStart;  // the clock's first tick

}  // namespace fkt::test
