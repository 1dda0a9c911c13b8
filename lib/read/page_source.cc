// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/page_source.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

#include <fmt/core.h>

#include "lib/base/text.h"

namespace fkt {
namespace {

// Number of decompressed groups that stay cached while no cursor uses them: the cursors of other
// CPUs read the neighbouring pages soon.
constexpr std::size_t kRecentGroups = 16;

}  // namespace

// The groups in use and those used last.
class PageSource::Cache {
 public:
  struct Slot {
    std::once_flag once;
    std::optional<Result<Unpacked>> unpacked;
  };

  explicit Cache(std::size_t groups) : slots_(groups) {}

  // Calls unpack() at most once while the slot exists, without holding the mutex.
  template <class Unpack>
  std::shared_ptr<const Slot> get(std::size_t group, Unpack unpack) {
    const std::shared_ptr<Slot> slot = find(group);
    std::call_once(slot->once, [&] { slot->unpacked.emplace(unpack()); });
    return slot;
  }

 private:
  std::shared_ptr<Slot> find(std::size_t group) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Slot> slot = slots_[group].lock();
    if (slot && !recent_.empty() && recent_.back() == slot) return slot;
    if (!slot) slots_[group] = slot = std::make_shared<Slot>();
    recent_.push_back(slot);
    if (recent_.size() > kRecentGroups) recent_.pop_front();
    return slot;
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<Slot>> slots_;    // by group
  std::deque<std::shared_ptr<Slot>> recent_;  // the groups requested last
};

// The pages whose events matched their checksum. Relaxed atomics suffice: a bit says nothing about
// other memory, and threads that check a page at the same time get the same result.
class PageSource::Checked {
 public:
  explicit Checked(std::size_t pages) : words_(pages / kBits + 1) {}

  bool has(std::uint64_t page) const {
    return page / kBits < words_.size() &&
           (words_[page / kBits].load(std::memory_order_relaxed) >> page % kBits & 1) != 0;
  }
  void add(std::uint64_t page) {
    if (page / kBits >= words_.size()) return;
    words_[page / kBits].fetch_or(std::uint64_t{1} << page % kBits, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kBits = 64;
  std::vector<std::atomic<std::uint64_t>> words_;
};

PageSource::PageSource(ByteView file, std::uint64_t begin, std::uint32_t page_bytes,
                       std::uint64_t recording)
    : file_(file), begin_(begin), page_bytes_(page_bytes), recording_(recording) {}

PageSource::PageSource(ByteView file, std::uint64_t begin, std::uint32_t page_bytes,
                       std::uint64_t recording, std::vector<GroupRef> groups)
    : PageSource(file, begin, page_bytes, recording) {
  groups_ = std::move(groups);
  cache_ = std::make_unique<Cache>(groups_.size());
}

PageSource::PageSource(PageSource&&) noexcept = default;
PageSource& PageSource::operator=(PageSource&&) noexcept = default;
PageSource::~PageSource() = default;

std::uint64_t PageSource::groups_end() const {
  if (groups_.empty()) return begin_;
  return begin_ + (groups_.back().first_page + groups_.back().pages) * page_bytes_;
}

// All pages of a hole get the same message, so that it is noted once.
Error PageSource::hole(std::size_t next) const {
  const std::uint64_t from = next == 0 ? 0 : groups_[next - 1].first_page + groups_[next - 1].pages;
  const std::string to =
      next < groups_.size() ? std::to_string(groups_[next].first_page - 1) : "the last";
  return {ErrorCode::damaged, fmt::format("pages {} to {}: their group cannot be read", from, to)};
}

Result<PageBytes> PageSource::bytes(std::uint64_t offset) const {
  if (!cache_) return PageBytes{subview(file_, offset, page_bytes_), {}};
  const std::uint64_t number = (offset - begin_) / page_bytes_;
  const auto next = std::ranges::upper_bound(groups_, number, {}, &GroupRef::first_page);
  const auto index = static_cast<std::size_t>(next - groups_.begin());
  if (index == 0) return hole(0);
  const GroupRef& group = groups_[index - 1];
  if (number - group.first_page >= group.pages) return hole(index);
  const auto slot =
      cache_->get(index - 1, [&] { return unpack_group(file_, group, page_bytes_, recording_); });
  const Result<Unpacked>& unpacked = *slot->unpacked;
  if (!unpacked) return unpacked.error();
  const std::uint64_t inside = (number - group.first_page) * page_bytes_;
  return PageBytes{subview(unpacked->view(), inside, page_bytes_), slot};
}

void PageSource::remember(std::size_t pages) {
  checked_ = std::make_unique<Checked>(pages);
}

Result<Page> PageSource::page(std::uint64_t offset) const {
  Result<Page> page = page_header(offset);
  const std::uint64_t number = (offset - begin_) / page_bytes_;
  if (!page || (checked_ && checked_->has(number))) return page;
  FKT_TRY(check_page_events(*page));
  if (checked_) checked_->add(number);
  return page;
}

Result<Page> PageSource::page_header(std::uint64_t offset) const {
  auto bytes = FKT_TRY(this->bytes(offset));
  Result<Page> page = check_page_header(bytes.bytes, offset, page_bytes_, recording_);
  if (page) page->keep = std::move(bytes.keep);
  return page;
}

}  // namespace fkt
