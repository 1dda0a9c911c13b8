// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/page_group_index.h"

#include <algorithm>

#include "lib/base/text.h"

namespace fkt {
namespace {

// How far after the last group a scan of an unfinished file goes on (bytes): more than can have
// been in flight when the recorder died.
constexpr std::uint64_t kMaxBytesAfterGroup = 256 << 20;

class Scan {
 public:
  explicit Scan(const PageArea& area) : area_(area) { found_.end = area.begin; }

  FoundGroups run() {
    for (offset_ = area_.begin; offset_ < area_.end;) {
      if (!area_.end_known && section_begins(area_.file, offset_)) break;
      if (!step()) return std::move(found_);
    }
    // The rest of the page area is damaged, or its end is missing.
    if (area_.end_known || offset_ < area_.end) skipped();
    return std::move(found_);
  }

 private:
  // Checks the current offset for a group. Returns false when no more groups can follow.
  bool step() {
    const Result<GroupRef> group =
        check_group(area_.file, offset_, area_.page_bytes, area_.recording);
    const bool good = group && fits(*group);
    if (good && frame_end(*group) <= area_.end) {
      skipped();
      found_.groups.push_back(*group);
      next_page_ = group->first_page + group->pages;
      found_.end = offset_ = group->end();
      return true;
    }
    const bool ours = good || (group_begins(area_.file, offset_) && offset_ == found_.end);
    if (ours && (good || area_.end - offset_ < sizeof(fkt_group_header))) {
      skipped();
      found_.cut_off = area_.end - offset_;
      return false;
    }
    if (fault_.empty()) {
      fault_ = group ? "group at offset " + hex(offset_) + ": it is out of order"
                     : group.error().message;
    }
    offset_ += FKT_FILE_ALIGN;
    return area_.end_known || offset_ - found_.end <= kMaxBytesAfterGroup;
  }

  // Checks the page number: skipped bytes may have held pages, but only a limited number.
  bool fits(const GroupRef& group) const {
    const std::uint64_t most =
        (offset_ - found_.end) / FKT_FILE_ALIGN * (FKT_GROUP_MAX_BYTES / area_.page_bytes);
    return group.first_page >= next_page_ && group.first_page - next_page_ <= most;
  }

  static std::uint64_t frame_end(const GroupRef& group) {
    return group.offset + sizeof(fkt_group_header) + group.stored_bytes;
  }

  // The bytes from found_.end to offset_ belong to the recording but could not be read: keeps the
  // reason.
  void skipped() {
    if (!fault_.empty() && found_.faults.size() < kMaxFaults) found_.faults.push_back(fault_);
    fault_.clear();
  }

  const PageArea& area_;
  FoundGroups found_;
  std::uint64_t offset_ = 0;
  std::uint64_t next_page_ = 0;  // page number after the last group
  std::string fault_;            // first fault after the last group
};

}  // namespace

FoundGroups scan_groups(const PageArea& area) {
  return Scan(area).run();
}

Result<std::vector<GroupRef>> read_group_table(const Section& section, const PageArea& area) {
  const auto wrong = [](const char* why) {
    return Error{ErrorCode::damaged, std::string("table of groups: ") + why};
  };
  const auto payload = FKT_TRY(Payload::read(section));
  const ByteView bytes = payload.bytes();
  std::vector<GroupRef> groups;
  std::uint64_t offset = area.begin, next_page = 0;
  for (std::uint64_t at = 0; at < bytes.size(); at += sizeof(fkt_group_entry)) {
    fkt_group_entry entry;
    if (!read_at(bytes, at, entry)) return wrong("it is cut short");
    const GroupRef group{entry.offset, entry.first_page, entry.pages, entry.stored_bytes};
    if (group.offset != offset || group.first_page != next_page) {
      return wrong("the groups do not follow one another");
    }
    if (group.pages == 0 || group.pages > FKT_GROUP_MAX_BYTES / area.page_bytes) {
      return wrong("a group's number of pages makes no sense");
    }
    offset = group.end();
    next_page += group.pages;
    if (offset > area.end) return wrong("a group lies behind the page area");
    groups.push_back(group);
  }
  if (offset != area.end) return wrong("it ends before the page area does");
  return groups;
}

}  // namespace fkt
