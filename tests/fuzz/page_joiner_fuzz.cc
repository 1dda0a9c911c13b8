// SPDX-License-Identifier: GPL-2.0-only
// libFuzzer target: whatever pages of the kernel's and of programs' events there are, joining them
// makes pages that can be read, with the kernel's events and those of programs that it counts, in
// time order; or it says that a page cannot be read.
//
// An input is a series of pages: what the page is of, its CPU, a number of words, and these words,
// which may be no events at all. Headers and checksums are made here, because an attacker could
// make them, too.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include <fkt/user_ring.h>

#include "lib/format/catalogue.h"
#include "lib/read/page_decoder.h"
#include "lib/read/page_source.h"
#include "lib/user/page_joiner.h"

namespace {

using namespace fkt;

constexpr std::uint64_t kRecording = 7;
constexpr std::uint32_t kPageBytes = 4096;
constexpr std::uint64_t kStop = 1ULL << 50;

void expect(bool condition) {
  if (!condition) std::abort();
}

const WordTable& table() {
  static const WordTable made(Catalogue::builtin());
  return made;
}

// What a page's words are, if they are events.
struct Content {
  bool is_sound = true;
  std::uint64_t events = 0, clock = 0;
};

Content content_of(const Page& page) {
  Content content;
  PageDecoder decoder(table(), page);
  Event event;
  for (;;) {
    const PageDecoder::Step step = decoder.next(event);
    if (step == PageDecoder::Step::damaged) content.is_sound = false;
    if (step == PageDecoder::Step::damaged || step == PageDecoder::Step::end) return content;
    content.clock = std::max(content.clock, event.clock);
    if (step == PageDecoder::Step::event) content.events++;
  }
}

// Pages of one source, as in a file.
class Pages {
 public:
  // Takes one page off the input's begin.
  void take(std::uint32_t cpu, std::span<const std::uint64_t> words, std::uint64_t first_clock,
            std::uint64_t lost, std::uint32_t pid) {
    fkt_page_header header{};
    header.magic = FKT_PAGE_MAGIC;
    header.magic_inverse = ~FKT_PAGE_MAGIC;
    header.version = FKT_WIRE_VERSION;
    header.header_bytes = FKT_PAGE_HEADER_BYTES;
    header.page_bytes = kPageBytes;
    header.recording = kRecording;
    header.cpu = cpu;
    header.seq = seq_[cpu]++;
    header.first_clock = first_clock;
    header.lost = lost;
    header.pid = pid;
    header.used = FKT_PAGE_HEADER_BYTES + static_cast<std::uint32_t>(words.size_bytes());
    Page page;
    page.header = header;
    page.header.end_clock = ~std::uint64_t{0};  // not known yet
    page.words = words;
    page.words_end = header.used;
    const Content content = content_of(page);
    header.end_clock = std::max(first_clock, content.clock);
    header.events = static_cast<std::uint32_t>(content.events);
    header.events_checksum = fkt_events_checksum(&header, words.data());
    header.checksum = fkt_page_checksum(&header);
    refs_.push_back({bytes_.size() * sizeof(std::uint64_t), header.first_clock, header.end_clock,
                     header.seq, cpu, header.events});
    const std::size_t at = bytes_.size();
    bytes_.resize(at + kPageBytes / sizeof(std::uint64_t));
    std::memcpy(&bytes_[at], &header, sizeof header);
    std::ranges::copy(words, bytes_.begin() + static_cast<std::ptrdiff_t>(
                                                  at + FKT_PAGE_HEADER_BYTES / sizeof bytes_[0]));
    events_ += content.events;
    is_sound_ &= content.is_sound;
  }

  std::uint64_t events() const { return events_; }
  bool is_sound() const { return is_sound_; }
  PageSource source() const {
    return {std::as_bytes(std::span(bytes_)), 0, kPageBytes, kRecording};
  }
  std::span<const PageRef> refs() const { return refs_; }

 private:
  std::vector<std::uint64_t> bytes_;  // aligned for words
  std::vector<PageRef> refs_;
  std::map<std::uint32_t, std::uint64_t> seq_;
  std::uint64_t events_ = 0;
  bool is_sound_ = true;
};

// Reads each page that is made.
class Joined {
 public:
  void take(const fkt_page_header& header, ByteView bytes) {
    const Result<Page> page = check_page_bytes(bytes, 0, kPageBytes, kRecording);
    expect(static_cast<bool>(page));
    const Content content = content_of(*page);
    expect(content.is_sound && content.events == header.events);
    expect(header.first_clock >= last_[header.cpu]);
    last_[header.cpu] = header.end_clock;
    events_ += content.events;
  }
  std::uint64_t events() const { return events_; }

 private:
  std::map<std::uint32_t, std::uint64_t> last_;  // by CPU (ticks)
  std::uint64_t events_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostWords = (kPageBytes - FKT_PAGE_HEADER_BYTES) / sizeof(std::uint64_t);
  Pages kernel, user;
  std::uint64_t clock = 1'000'000;
  while (size >= 4) {
    const std::size_t count = std::min({std::size_t{data[1]} | std::size_t{data[2] & 1U} << 8,
                                        kMostWords, (size - 4) / sizeof(std::uint64_t)});
    std::vector<std::uint64_t> words(count);
    if (count != 0) std::memcpy(words.data(), data + 4, count * sizeof words[0]);
    Pages& pages = data[0] & 1 ? user : kernel;
    clock += std::uint64_t{data[3]} << 4;
    pages.take(data[0] >> 1 & 3, words, clock, data[2] >> 4, data[0] >> 3);
    data += 4 + count * sizeof words[0];
    size -= 4 + count * sizeof words[0];
  }
  Joined joined;
  PageJoiner joiner(
      {kRecording, kPageBytes, kStop, 100}, table(),
      [&](const fkt_page_header& header, ByteView page) { joined.take(header, page); });
  const PageSource kernel_source = kernel.source(), user_source = user.source();
  const Status done = joiner.join({kernel_source, kernel.refs()}, {user_source, user.refs()});
  if (!done) return 0;
  std::uint64_t added = 0;
  for (const auto& [cpu, of] : joiner.added()) added += of.events;
  expect(joined.events() == kernel.events() + added);
  expect(added <= user.events());
  return 0;
}
