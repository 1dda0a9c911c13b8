// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/pages_ahead.h"

#include <algorithm>
#include <utility>

#include "lib/base/thread_nice.h"
#include "lib/read/recording_data.h"

namespace fkt {

PagesAhead::PagesAhead(const RecordingData& data, std::uint64_t from, std::uint64_t to,
                       PageTaker taker)
    : data_(data), taker_(std::move(taker)), rank_(data.pages.size(), kNowhere) {
  for (std::uint32_t number = 0; number < data.pages.size(); number++) {
    const PageRef& page = data.pages[number];
    if (page.end_clock >= from && page.first_clock < to) order_.push_back(number);
  }
  std::ranges::stable_sort(order_, {},
                           [&](std::uint32_t page) { return data.pages[page].first_clock; });
  for (std::uint32_t place = 0; place < order_.size(); place++) rank_[order_[place]] = place;
  claimed_.resize(order_.size());
  worker_ = std::jthread([this] { work(); });
}

PagesAhead::~PagesAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

std::uint32_t PagesAhead::next() {
  if (waiting_ >= kAhead) return kNowhere;
  while (next_ < order_.size() && claimed_[next_]) next_++;
  return next_ < order_.size() ? next_++ : kNowhere;
}

void PagesAhead::work() {
  set_thread_nice(kHelperNice);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const std::uint32_t place = next();
    if (place == kNowhere) {
      changed_.wait(lock);
      continue;
    }
    claimed_[place] = true;
    waiting_++;
    lock.unlock();
    Result<Page> page = read(order_[place]);
    lock.lock();
    ready_.emplace(place, std::move(page));
    changed_.notify_all();
  }
}

Result<Page> PagesAhead::read(std::uint32_t number) const {
  Result<Page> page = data_.page(number);
  if (taker_) taker_(number, data_.in_its_place(number, page));
  return page;
}

Result<Page> PagesAhead::page(std::uint32_t number) {
  const std::uint32_t place = rank_[number];
  if (place == kNowhere) return data_.page(number);
  std::unique_lock lock(mutex_);
  if (!claimed_[place]) {
    claimed_[place] = true;
    lock.unlock();
    return read(number);
  }
  changed_.wait(lock, [&] { return ready_.contains(place); });
  Result<Page> page = std::move(ready_.extract(place).mapped());
  claimed_[place] = false;  // if it is asked for once more, it is read anew
  waiting_--;
  changed_.notify_all();
  return page;
}

}  // namespace fkt
