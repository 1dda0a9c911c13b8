// SPDX-License-Identifier: GPL-2.0-only
// A recording opened for reading: the contents of its sections, its pages, its events in time
// order.
//
//   fkt::Result<fkt::Recording> recording = fkt::Recording::open(path);
//   if (!recording) return fail(recording.error());
//   for (const fkt::Event& e : recording->events()) stats.add(e);
//
// The file is mapped, never read as a whole; memory use is bounded by the number of CPUs and the
// page index, not by the recording's length. Pages are checked when they are decoded: a damaged one
// is skipped and counted in integrity(), and the others are shown.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/format/event.h"
#include "lib/format/metadata.h"

namespace fkt {

// A page found by the scan or listed in the index.
struct PageRef {
  std::uint64_t offset = 0;  // in the file; in a compressed one as if it were not (bytes)
  std::uint64_t first_clock = 0, end_clock = 0;
  std::uint64_t seq = 0;
  std::uint32_t cpu = 0;
  std::uint32_t events = 0;
};

// What is wrong with the file: found when it is opened and, in pages, when they are decoded.
struct Integrity {
  bool finished = false;       // the recorder wrote the tail
  bool index_rebuilt = false;  // made by scanning the pages
  bool joined = false;         // programs' events are in the pages, which were scanned
  // Pages have a checksum of their events; those of older recordings do not.
  bool checksums = true;
  std::uint64_t truncated_bytes = 0;  // of an incomplete page at the end of a file cut short
  std::uint64_t damaged_pages = 0;
  std::uint64_t missing_pages = 0;  // holes in the CPUs' sequence numbers
  std::uint64_t lost = 0;           // events lost in gaps, on all CPUs
  std::uint64_t events = 0;         // events that the latest events() has yielded so far
  std::vector<std::string> notes;   // one line each: what, where
};

struct Page;  // lib/read/page_decoder.h

// Called with a page: its position in Recording::pages(), and what Recording::page() returns.
using PageTaker = std::function<void(std::uint32_t number, const Result<Page>& page)>;

// The part of a recording to read; in a slice never more than the slice.
struct ReadRange {
  std::optional<std::uint64_t> from, to;  // ticks, from <= clock < to
  std::optional<std::uint32_t> cpu;
  bool ahead = false;  // all is read: another thread prepares the pages (lib/read/pages_ahead.h)
  // If `ahead`: called with the pages that are read, unless empty; any thread may call it.
  PageTaker page_read{};
};

class MappedFile;      // lib/base/mapped_file.h
struct RecordingData;  // lib/read/recording_data.h
struct PageBytes;      // lib/read/page_source.h
class WordTable;
class EventRange;  // lib/read/event_merge.h: an input range of Event in time order

class Recording {
 public:
  // path "-" is standard input, which is first copied to an unlinked temporary file.
  static Result<Recording> open(const std::string& path);
  // Same as open(), for programs that show something before all pages of a recording with events of
  // whole calls have been read once. split() reads them, and must have returned before pages or
  // events are read. It changes pages(), so no other thread may use them meanwhile.
  static Result<Recording> open_unsplit(const std::string& path);
  void split();
  // Opens a file that is mapped already; `name` is used in messages.
  static Result<Recording> from_file(MappedFile file, const std::string& name);
  // Opens a copy of a recording in memory; `name` is used in messages.
  static Result<Recording> from_bytes(std::span<const std::byte> bytes,
                                      const std::string& name = "recording");
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  const RecordingInfo& info() const;
  const std::vector<PageRef>& pages() const;  // in file order
  // Returns the events of all CPUs in time order, at equal times in the order of CPU numbers, with
  // gaps among them (event.h). Iterating updates integrity(), so only one thread at a time may do
  // it. The range must not outlive the recording.
  EventRange events(const ReadRange& range = {}) const;
  // page() returns a page after checking it (Error: damaged); ref: an element of pages(). words()
  // tells how to decode it (PageDecoder). Neither changes integrity(): any number of threads may
  // decode pages at once.
  Result<Page> page(const PageRef& ref) const;
  // Returns whether page() makes begins and ends of events of whole calls (lib/read/split_pages.h).
  bool splits_pages() const;
  // Returns the calls that began or ended in these pages (ascending positions in pages()), and
  // whose events are in other pages.
  LaterCalls later_calls(std::span<const std::uint32_t> pages) const;
  // Returns whether page() has other ends of calls than those whose events are in the page.
  bool exchanges_ends(std::uint32_t page) const;
  // Counts a page that page() or a decoder found damaged in integrity(), as events() does with the
  // damaged pages that it reads. Only one thread at a time may call it or iterate events().
  void note_damage(const PageRef& ref, const Error& error) const;
  // Call it when reading all pages in order with page(): pages far before this one are taken out of
  // the process's memory. events() does so by itself.
  void passed(const PageRef& ref) const;
  // Takes all of the file out of the process's memory, from where it is mapped again when it is
  // read. Called between two passes over all pages, of which the second one forgets nothing else.
  void forget() const;
  // Returns the page's stored bytes, unchecked, for copying.
  Result<PageBytes> page_bytes(const PageRef& ref) const;
  const WordTable& words() const;
  const Integrity& integrity() const;
  // Returns the offset of the tail behind the pages (bytes); 0: there is none.
  std::uint64_t tail_offset() const;
  // Returns the whole mapped file, for copying its sections.
  std::span<const std::byte> file() const;
  // Returns the data that the constructors of CpuStream and PagesAhead take, for readers that merge
  // the CPUs' events themselves. Reading by them changes integrity(), as iterating events() does,
  // so only one thread may do it at a time.
  RecordingData& data() const { return *data_; }

 private:
  explicit Recording(std::unique_ptr<RecordingData> data);
  static Result<Recording> opened(MappedFile file, const std::string& name);
  std::unique_ptr<RecordingData> data_;
};

// Returns the number of events in the file according to its index.
std::uint64_t events_of(const Recording& recording);

}  // namespace fkt
