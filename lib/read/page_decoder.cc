// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/page_decoder.h"

#include <algorithm>

#include <fmt/core.h>

#include "lib/base/text.h"

namespace fkt {
namespace {

bool known_version(const fkt_page_header& h) {
  return h.version == FKT_WIRE_VERSION || h.version == FKT_WIRE_VERSION_UNCHECKED;
}

std::uint32_t least_header_bytes(const fkt_page_header& h) {
  return h.version == FKT_WIRE_VERSION_UNCHECKED ? FKT_PAGE_HEADER_BYTES_UNCHECKED
                                                 : FKT_PAGE_HEADER_BYTES;
}

Error damaged_page(std::uint64_t offset, const std::string& why) {
  return {ErrorCode::damaged, "page at offset " + hex(offset) + why};
}

// Returns what is wrong with the header, or nullptr. Magic and checksum come first: when they do
// not match, the other fields mean nothing.
const char* header_fault(const fkt_page_header& h, std::uint32_t page_bytes,
                         std::uint64_t recording) {
  if (h.magic != FKT_PAGE_MAGIC || h.magic_inverse != ~FKT_PAGE_MAGIC) return "no page begins here";
  if (fkt_page_checksum(&h) != h.checksum) return "its header's checksum does not match";
  if (!known_version(h)) return "its version is not known to this program";
  if (h.recording != recording) return "it belongs to another recording";
  if (h.page_bytes != page_bytes) return "its size is not the file's page size";
  if (h.cpu >= kMaxCpus) return "its CPU number makes no sense";
  if (h.pid > FKT_PID_MASK) return "its thread's number makes no sense";
  if (h.header_bytes < least_header_bytes(h) || h.header_bytes % 8 != 0) {
    return "its header's size makes no sense";
  }
  if (h.used == FKT_USED_OPEN) return "it was never closed";
  if (h.used < h.header_bytes || h.used > page_bytes || h.used % 8 != 0) {
    return "its used size makes no sense";
  }
  if (h.commit != 0) return "it holds events that were never completed";
  if (h.end_clock < h.first_clock) return "it ends before it begins";
  return nullptr;
}

}  // namespace

WordTable::WordTable(const Catalogue& catalogue) {
  entries_.fill(kUnknown);
  for (const EventType& event : catalogue.events()) {
    std::uint16_t& entry = entries_[event.id];
    const bool is_switch = (event.id & ~0xfu) == FKT_E_SWITCH_R;
    entry = event.words ? static_cast<std::uint16_t>(*event.words) : kVariable;
    if (is_switch && event.words) entry |= kSwitch;
  }
  for (const PairType& pair : catalogue.pairs()) {
    std::fill_n(entries_.begin() + pair.first, pair.count,
                static_cast<std::uint16_t>(kPair | pairs_.size()));
    pairs_.push_back(pair);
  }
  entries_[FKT_W_PID] = kPid;
  entries_[FKT_W_TIME] = kTime;
  entries_[FKT_W_LOST] = kLost;
}

Result<Page> check_page_header(ByteView bytes, std::uint64_t offset, std::uint32_t page_bytes,
                               std::uint64_t recording) {
  Page page;
  page.offset = offset;
  const char* fault = bytes.size() < page_bytes || !read_at(bytes, 0, page.header)
                          ? "the file ends within it"
                          : header_fault(page.header, page_bytes, recording);
  if (fault) return damaged_page(offset, std::string(": ") + fault);
  page.words = as_words(
      subview(bytes, page.header.header_bytes, page.header.used - page.header.header_bytes));
  page.words_end = offset + page.header.used;
  return page;
}

Status check_page_events(const Page& page) {
  const fkt_page_header& h = page.header;
  if (h.version == FKT_WIRE_VERSION_UNCHECKED ||
      fkt_events_checksum(&h, page.words.data()) == h.events_checksum) {
    return Done{};
  }
  return damaged_page(page.offset, fmt::format(" (cpu {}, {}): its events are damaged", h.cpu,
                                               counted(h.events, "event")));
}

Result<Page> check_page_bytes(ByteView bytes, std::uint64_t offset, std::uint32_t page_bytes,
                              std::uint64_t recording) {
  auto page = FKT_TRY(check_page_header(bytes, offset, page_bytes, recording));
  FKT_TRY(check_page_events(page));
  return page;
}

namespace {

std::string event_at(std::uint64_t page, std::uint32_t cpu, std::uint64_t event) {
  return fmt::format("page at offset {:#x} (cpu {}): event at {:#x}", page, cpu, event);
}

}  // namespace

Error PageDecoder::damaged_event(const Page& page, std::uint32_t position, const std::string& why) {
  const std::uint64_t offset = page.offset + page.header.header_bytes + 8ULL * position;
  return {ErrorCode::damaged, event_at(page.offset, page.header.cpu, offset) + ": " + why};
}

Error PageDecoder::error() const {
  if (damage_ != nullptr) return *damage_;
  std::string message = event_at(page_offset_, cpu_, bad_offset_);
  switch (fault_) {
    case Fault::unknown_id:
      message += ": id " + hex(fkt_word_id(bad_word_)) + " is not in the file's catalogue";
      break;
    case Fault::cut_short:
      message += ": it is longer than what is left of the page";
      break;
    case Fault::late:
      message += ": its time lies after the page's end";
      break;
    case Fault::none:
      break;
  }
  return {ErrorCode::damaged, message};
}

}  // namespace fkt
