// SPDX-License-Identifier: GPL-2.0-only
// libFuzzer target: whatever a program stores in a ring that it shares with the recorder, and
// whatever it sends as definitions, the pages that are made of it can be read, have the events that
// were counted, in time order, and the definitions make a catalogue.
//
// An input is a series of steps. The first byte of each says what it is: a definition's text up to
// a zero byte, or what is stored in the ring (words, head, count of lost events) before the reader
// looks again.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fkt/user_ring.h>

#include "lib/format/catalogue.h"
#include "lib/read/page_decoder.h"
#include "lib/user/event_numbers.h"
#include "lib/user/page_writer.h"
#include "lib/user/ring_reader.h"

namespace {

using namespace fkt;

constexpr std::uint64_t kWords = 256, kStart = 1'000'000;
constexpr std::uint32_t kPageBytes = 4096, kTid = 42;

void expect(bool condition) {
  if (!condition) std::abort();
}

// Takes pieces off the input's begin; zeros behind its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : text_(reinterpret_cast<const char*>(data), size) {}
  bool is_empty() const { return text_.empty(); }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::size_t there = std::min(bytes, text_.size());
    std::memcpy(&value, text_.data(), there);
    text_.remove_prefix(there);
    return value;
  }
  std::string_view line() { return take_until(text_, '\0'); }

 private:
  std::string_view text_;
};

// Pages that are read again as soon as they are made.
class CheckedPages : public RingSink {
 public:
  CheckedPages()
      : writer_({7, kPageBytes, 1},
                [this](const fkt_page_header& header, ByteView page) { check(header, page); }) {}

  void event(std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
             std::span<const std::uint64_t> words) override {
    expect(clock >= last_ && clock <= limit);
    expect(id >= FKT_E_USER && id <= FKT_E_USER_PROBE2 && words.size() <= writer_.most_words());
    last_ = clock;
    made_++;
    writer_.event(kTid, clock, id, arg, words);
  }
  void lost(std::uint64_t clock, std::uint64_t count, std::uint64_t from) override {
    expect(clock >= last_ && count > 0);
    last_ = clock;
    writer_.lost(kTid, clock, count, from);
  }
  void finish() {
    writer_.flush(last_);
    expect(read_ == made_ && writer_.events() == made_);
  }
  std::size_t most_words() const { return writer_.most_words(); }
  std::uint64_t limit = 0;  // no event may be later (ticks)

 private:
  void check(const fkt_page_header& header, ByteView bytes) {
    expect(bytes.size() == kPageBytes && header.checksum == fkt_page_checksum(&header));
    std::vector<std::uint64_t> words((header.used - header.header_bytes) / sizeof(std::uint64_t));
    std::memcpy(words.data(), bytes.data() + header.header_bytes, words.size() * sizeof words[0]);
    Page page;
    page.header = header;
    page.words = words;
    page.words_end = header.used;
    static const WordTable table(Catalogue::builtin());
    PageDecoder decoder(table, page);
    Event event;
    std::uint64_t count = 0, clock = 0;
    for (;;) {
      const PageDecoder::Step step = decoder.next(event);
      expect(step != PageDecoder::Step::damaged);
      if (step == PageDecoder::Step::end) break;
      expect(event.clock >= clock && event.pid == kTid);
      clock = event.clock;
      if (step == PageDecoder::Step::event) count++;
    }
    expect(count == header.events && clock <= header.end_clock);
    read_ += count;
  }

  std::uint64_t last_ = kStart, made_ = 0, read_ = 0;
  PageWriter writer_;
};

void store(Input& input, std::vector<std::uint64_t>& memory) {
  auto* const ring = reinterpret_cast<fkt_user_ring*>(memory.data());
  std::uint64_t at = input.number(1);
  for (std::uint64_t count = input.number(1) % 32; count > 0; count--) {
    memory[FKT_USER_HEADER_BYTES / 8 + at++ % kWords] = input.number(8);
  }
  const std::uint64_t how = input.number(1);
  ring->head = how & 1 ? input.number(8) : ring->head + (how >> 1);
  if (input.number(1) & 1) ring->lost = input.number(8);
  if (input.number(1) & 1) ring->gap_from = input.number(8);
  if (input.number(1) & 1) ring->tail = input.number(8);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint64_t> memory(FKT_USER_HEADER_BYTES / 8 + kWords);
  Input input(data, size);
  CheckedPages pages;
  RingReader reader(reinterpret_cast<fkt_user_ring*>(memory.data()), kWords, kStart,
                    pages.most_words());
  EventNumbers numbers;
  std::string lines;
  pages.limit = kStart;
  while (!input.is_empty()) {
    const std::uint64_t what = input.number(1);
    if (what % 4 == 0) {
      if (const auto number = numbers.of(input.line())) {
        expect(number->number > 0 && number->number < FKT_USER_EVENT_NUMBERS);
        lines += number->lines;
      }
      continue;
    }
    store(input, memory);
    pages.limit += what << 8;
    const bool has_ended = what % 4 == 1;
    reader.take(pages.limit, has_ended, pages);
    if (has_ended) break;
  }
  pages.finish();
  if (!lines.empty()) {
    Catalogue catalogue = Catalogue::builtin();
    expect(catalogue.define(lines) == 0);
  }
  return 0;
}
