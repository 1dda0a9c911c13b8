// SPDX-License-Identifier: GPL-2.0-only
#include "lib/user/page_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/format/event.h"

namespace fkt {
namespace {

constexpr std::size_t kBefore = 2;  // words that may have to precede an event: TIME and PID

}  // namespace

PageWriter::PageWriter(const Identity& identity, Take take)
    : identity_(identity), take_(std::move(take)), page_(identity.page_bytes) {}

std::size_t PageWriter::most_words() const {
  return std::min<std::size_t>(
      (identity_.page_bytes - FKT_PAGE_HEADER_BYTES) / sizeof(std::uint64_t) - 1 - kBefore,
      FKT_VAR_MASK);
}

void PageWriter::event(std::uint32_t tid, std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
                       std::span<const std::uint64_t> words) {
  append(tid, clock, id, arg, words);
  if (is_switch(static_cast<std::uint16_t>(id))) tid_ = arg & FKT_PID_MASK;
  if (id == FKT_E_DEFINE) header_.flags |= FKT_PAGE_DEFINES;
  header_.events++;
  events_++;
}

void PageWriter::lost(std::uint32_t tid, std::uint64_t clock, std::uint64_t count,
                      std::uint64_t from) {
  const std::uint64_t words[FKT_LOST_WORDS] = {lost_ + count, std::clamp(from, clock_, clock)};
  append(tid, clock, FKT_W_LOST, 0, words);
  lost_ += count;
}

void PageWriter::append(std::uint32_t tid, std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
                        std::span<const std::uint64_t> words) {
  const std::size_t need = (1 + words.size() + kBefore) * sizeof(std::uint64_t);
  if (is_open_ && header_.used + need > identity_.page_bytes) flush(clock);
  if (!is_open_) open(tid, clock);
  if (clock - clock_ > FKT_TIME_MASK) {
    put(fkt_word(clock, FKT_W_TIME, static_cast<std::uint32_t>(clock >> FKT_TIME_BITS)));
  }
  if (tid != tid_) put(fkt_word(clock, FKT_W_PID, tid));
  tid_ = tid;
  clock_ = clock;
  put(fkt_word(clock, id, arg));
  for (const std::uint64_t word : words) put(word);
}

void PageWriter::open(std::uint32_t tid, std::uint64_t clock) {
  header_ = {};
  header_.magic = FKT_PAGE_MAGIC;
  header_.magic_inverse = ~FKT_PAGE_MAGIC;
  header_.version = FKT_WIRE_VERSION;
  header_.header_bytes = FKT_PAGE_HEADER_BYTES;
  header_.page_bytes = identity_.page_bytes;
  header_.recording = identity_.recording;
  header_.seq = seq_++;
  header_.cpu = identity_.cpu;
  header_.flags = identity_.flags;
  header_.first_clock = clock;
  header_.lost = lost_;
  header_.pid = tid;
  header_.used = FKT_PAGE_HEADER_BYTES;
  tid_ = tid;
  clock_ = clock;
  is_open_ = true;
  saved_ = 0;
}

void PageWriter::put(std::uint64_t word) {
  std::memcpy(page_.data() + header_.used, &word, sizeof word);
  header_.used += sizeof word;
}

void PageWriter::flush(std::uint64_t clock) {
  if (!is_open_) return;
  is_open_ = false;
  if (header_.used != saved_) hand_over(clock);
}

void PageWriter::save() {
  if (!is_open_ || header_.used == saved_) return;
  saved_ = header_.used;
  hand_over(clock_);
}

void PageWriter::hand_over(std::uint64_t clock) {
  header_.end_clock = std::max(clock, clock_);
  header_.events_checksum = fkt_events_checksum(&header_, page_.data() + FKT_PAGE_HEADER_BYTES);
  header_.checksum = fkt_page_checksum(&header_);
  std::memcpy(page_.data(), &header_, sizeof header_);
  std::fill(page_.begin() + header_.used, page_.end(), std::byte{0});
  take_(header_, page_);
}

}  // namespace fkt
