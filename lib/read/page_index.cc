// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/page_index.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include "lib/base/text.h"
#include "lib/read/definition_events.h"
#include "lib/read/page_decoder.h"

namespace fkt {
namespace {

// Number of consecutive unusable pages that end the scan of an unfinished file: more than the ring
// of a large machine can have had in flight when it died, so no page after a hole is missed.
constexpr std::uint64_t kMaxUnusablePages = 1 << 16;

// The last page number of each CPU; the numbers of a CPU's pages are ascending.
using LastNumber = std::unordered_map<std::uint32_t, std::uint64_t>;

bool follows(LastNumber& last, std::uint32_t cpu, std::uint64_t seq) {
  const auto [it, fresh] = last.emplace(cpu, seq);
  if (!fresh && seq <= it->second) return false;
  it->second = seq;
  return true;
}

// Returns true if a page that failed its check has the magic and the id of this recording.
bool ours(const PageArea& area, std::uint64_t offset) {
  fkt_page_header header;
  return read_at(area.file, offset, header) && header.magic == FKT_PAGE_MAGIC &&
         header.recording == area.recording;
}

// Damaged pages; they are reported only if pages of the recording follow them.
class Pending {
 public:
  void add(std::string fault) {
    // All pages of a damaged group have the same fault: keep it once.
    const bool new_one = faults_.empty() || faults_.back() != fault;
    if (new_one && faults_.size() < kMaxFaults) faults_.push_back(std::move(fault));
    ++count_;
  }
  std::uint64_t count() const { return count_; }
  void commit(FoundPages& found, std::uint64_t end) {
    found.damaged += count_;
    for (std::string& fault : faults_) {
      const bool new_one = found.faults.empty() || found.faults.back() != fault;
      if (new_one && found.faults.size() < kMaxFaults) found.faults.push_back(std::move(fault));
    }
    found.end = end;
    faults_.clear();
    count_ = 0;
  }

 private:
  std::vector<std::string> faults_;
  std::uint64_t count_ = 0;
};

// The pages found: plain ones and joined ones. Both are in a file whose recorder was killed while
// it joined pages.
class FoundOfBothKinds {
 public:
  // Adds a page. A page that is not joined must have a new number.
  void add(const PageRef& page, const fkt_page_header& header) {
    Kind& kind = kinds_[is_joined(header)];
    if (kinds_[0].pages.empty() && kinds_[1].pages.empty()) first_is_joined_ = is_joined(header);
    kind.pages.push_back(page);
    if (has_definitions(header)) kind.defining.push_back(page.offset);
  }
  static bool is_joined(const fkt_page_header& header) {
    return header.version != FKT_WIRE_VERSION_UNCHECKED && (header.flags & FKT_PAGE_JOINED) != 0;
  }
  // Sets `found` to the pages of the kind that counts (man fkt-file.5).
  void give(FoundPages& found) {
    Kind& kind = kinds_[first_is_joined_];
    if (first_is_joined_) keep_last(kind);
    found.pages = std::move(kind.pages);
    found.defining = std::move(kind.defining);
    found.is_joined = first_is_joined_;
  }

 private:
  struct Kind {
    std::vector<PageRef> pages;
    std::vector<std::uint64_t> defining;
  };

  // Keeps the last page of each number of a CPU: a page that was being moved is still whole at its
  // old place.
  static void keep_last(Kind& kind) {
    std::unordered_map<std::uint32_t, std::uint64_t> next;  // number by CPU
    std::unordered_set<std::uint64_t> kept;
    for (auto page = kind.pages.rbegin(); page != kind.pages.rend(); ++page) {
      const auto [it, fresh] = next.emplace(page->cpu, page->seq);
      if (!fresh && page->seq >= it->second) continue;
      it->second = page->seq;
      kept.insert(page->offset);
    }
    std::erase_if(kind.pages, [&](const PageRef& page) { return !kept.contains(page.offset); });
    std::erase_if(kind.defining, [&](std::uint64_t offset) { return !kept.contains(offset); });
  }

  Kind kinds_[2];
  bool first_is_joined_ = false;
};

}  // namespace

bool section_begins(ByteView file, std::uint64_t offset) {
  std::uint32_t magic = 0;
  return read_at(file, offset, magic) && magic == FKT_SECTION_MAGIC;
}

FoundPages scan_pages(const PageArea& area, const PageSource& source) {
  FoundPages found;
  found.end = area.begin;
  Pending pending;
  LastNumber last;
  FoundOfBothKinds pages;
  std::uint64_t offset = area.begin;
  for (; offset < area.end; offset += area.page_bytes) {
    if (!area.end_known && section_begins(area.file, offset)) {
      pending.commit(found, offset);
      break;
    }
    if (area.end - offset < area.page_bytes) {
      // An incomplete page counts as cut off, not as damaged, if it may belong to the recording.
      if (area.end_known || offset == found.end || ours(area, offset)) {
        pending.commit(found, offset);
        found.cut_off = area.end - offset;
      }
      break;
    }
    const Result<Page> page = source.page_header(offset);
    if (!page) {
      pending.add(page.error().message);
    } else if (const fkt_page_header& h = page->header;
               !FoundOfBothKinds::is_joined(h) && !follows(last, h.cpu, h.seq)) {
      pending.add(fmt::format("page at offset {:#x}: cpu {} had its number {} before", offset,
                              h.cpu, h.seq));
    } else {
      pending.commit(found, offset + area.page_bytes);
      pages.add({offset, h.first_clock, h.end_clock, h.seq, h.cpu, h.events}, h);
      continue;
    }
    if (area.end_known || ours(area, offset)) {
      pending.commit(found, offset + area.page_bytes);
    } else if (pending.count() > kMaxUnusablePages) {
      break;
    }
  }
  pages.give(found);
  return found;
}

Result<std::vector<PageRef>> read_index(const Section& section, const PageArea& area) {
  const auto wrong = [](const char* why) {
    return Error{ErrorCode::damaged, std::string("index: ") + why};
  };
  const auto payload = FKT_TRY(Payload::read(section));
  const ByteView bytes = payload.bytes();
  const std::uint64_t count = bytes.size() / sizeof(fkt_index_entry);
  if (count != (area.end - area.begin) / area.page_bytes) {
    return wrong("it has not as many entries as there are pages");
  }
  std::vector<PageRef> pages;
  pages.reserve(count);
  LastNumber last;
  for (std::uint64_t i = 0; i < count; ++i) {
    fkt_index_entry entry;
    if (!read_at(bytes, i * sizeof entry, entry)) return wrong("it is cut short");
    if (entry.cpu >= kMaxCpus) return wrong("a CPU's number makes no sense");
    if (entry.end_clock < entry.first_clock) return wrong("a page ends before it begins");
    if (!follows(last, entry.cpu, entry.seq)) return wrong("a CPU's pages are out of order");
    pages.push_back({area.begin + i * area.page_bytes, entry.first_clock, entry.end_clock,
                     entry.seq, entry.cpu, entry.events});
  }
  return pages;
}

}  // namespace fkt
