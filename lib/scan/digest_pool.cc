// SPDX-License-Identifier: GPL-2.0-only
#include "lib/scan/digest_pool.h"

#include <algorithm>
#include <numeric>

namespace fkt {

namespace {

constexpr std::size_t kAheadPerThread = 2;     // pages
constexpr std::size_t kMostBytes = 96U << 20;  // limit for the lists of all digests together

}  // namespace

DigestPool::DigestPool(const RecordingData& data, const SharedTypeTable& types, Wanted wanted,
                       bool histograms, bool states, unsigned threads)
    : data_(data),
      types_(types),
      wanted_(std::move(wanted)),
      rules_(data.info.catalogue, types, states),
      tallies_(std::max(1U, threads), Tally(data.info.catalogue, histograms)),
      // Number of digests: one for the stream of each CPU, and others that are made ahead.
      most_ahead_(data.by_cpu.size() + kAheadPerThread * tallies_.size()),
      claimed_(data.pages.size()) {
  if (tallies_.size() == 1) return;
  order_.resize(data.pages.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, {},
                           [&](std::uint32_t page) { return data.pages[page].first_clock; });
  for (std::size_t i = 1; i < tallies_.size(); i++) helpers_.emplace_back([this, i] { work(i); });
}

DigestPool::~DigestPool() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

void DigestPool::work(std::size_t thread) {
  Lock lock(mutex_);
  while (!stop_) {
    if (!one_job(lock, thread)) changed_.wait(lock);
  }
}

// Does one job: adds a spent digest to the statistics, which frees its memory, or else makes the
// next digest. Returns false when there is nothing to do. Caller must hold the lock.
bool DigestPool::one_job(Lock& lock, std::size_t thread) {
  if (!spent_.empty()) {
    std::unique_ptr<Slot> slot = std::move(spent_.back());
    spent_.pop_back();
    spend(lock, thread, std::move(slot));
    return true;
  }
  const std::optional<std::uint32_t> page = next_page();
  if (page) make(lock, *page);
  return page.has_value();
}

std::optional<std::uint32_t> DigestPool::next_page() {
  if (slots_.size() >= most_ahead_) return std::nullopt;
  for (; next_ < order_.size(); next_++) {
    const std::uint32_t page = order_[next_];
    const PageRef& ref = data_.pages[page];
    if (claimed_[page]) continue;
    if (!wanted_(ref.cpu, ref.first_clock, ref.end_clock)) continue;
    return order_[next_++];
  }
  return std::nullopt;
}

std::unique_ptr<DigestPool::Slot> DigestPool::new_slot() {
  if (free_.empty()) return std::make_unique<Slot>();
  std::unique_ptr<Slot> slot = std::move(free_.back());
  free_.pop_back();
  slot->ready = slot->useful = slot->asked = slot->unwanted = false;
  return slot;
}

// Makes the digest of a page. Caller must hold the lock, which is released while the page is read.
void DigestPool::make(Lock& lock, std::uint32_t page) {
  claimed_[page] = true;
  Slot& slot = *(slots_[page] = new_slot());
  lock.unlock();
  slot.digest.clear();
  data_.passed(data_.pages[page].offset);
  const Result<Page> checked = data_.page(page);
  const std::optional<bool> counted =
      checked ? wanted_(checked->header.cpu, checked->header.first_clock, checked->header.end_clock)
              : std::nullopt;
  if (counted) digest(*checked, rules_, types_, *counted, slot.digest);
  lock.lock();
  limit(slot);
  slot.useful = counted.has_value();
  slot.ready = true;
  if (slot.unwanted) {
    free_.push_back(std::move(slots_[page]));
    slots_.erase(page);
  }
  changed_.notify_all();
}

// With very many CPUs the digests would take too much memory: those beyond the limit keep no
// bursts, and their events are read one by one.
void DigestPool::limit(Slot& slot) {
  bytes_ -= slot.bytes;
  slot.bytes = slot.digest.bytes();
  if (bytes_ + slot.bytes > kMostBytes) {
    slot.digest.forget_bursts();
    slot.bytes = 0;
  }
  bytes_ += slot.bytes;
}

void DigestPool::spend(Lock& lock, std::size_t thread, std::unique_ptr<Slot> slot) {
  lock.unlock();
  tallies_[thread].add(slot->digest);
  lock.lock();
  free_.push_back(std::move(slot));
}

PageDigest* DigestPool::get(std::uint32_t page) {
  Lock lock(mutex_);
  if (!claimed_[page]) make(lock, page);
  const auto found = slots_.find(page);
  if (found == slots_.end()) return nullptr;
  Slot& slot = *found->second;
  slot.asked = true;
  while (!slot.ready) {
    if (!one_job(lock, 0)) changed_.wait(lock);
  }
  return slot.useful ? &slot.digest : nullptr;
}

void DigestPool::release(std::uint32_t page) {
  Lock lock(mutex_);
  claimed_[page] = true;
  const auto found = slots_.find(page);
  if (found == slots_.end()) return;
  if (!found->second->ready) {  // released while another thread still makes it
    found->second->unwanted = true;
    return;
  }
  std::unique_ptr<Slot> slot = std::move(found->second);
  slots_.erase(found);
  if (slot->useful && slot->digest.counted && slot->asked) {
    spent_.push_back(std::move(slot));
    // Digests that wait to be added keep their slots from being reused; a small set of slots stays
    // in the CPU's caches.
    if (spent_.size() > helpers_.size()) one_job(lock, 0);
  } else {
    free_.push_back(std::move(slot));
  }
  changed_.notify_one();
}

void DigestPool::add_to(Profile& profile) {
  {
    Lock lock(mutex_);
    stop_ = true;
    while (!spent_.empty()) {
      std::unique_ptr<Slot> slot = std::move(spent_.back());
      spent_.pop_back();
      spend(lock, 0, std::move(slot));
    }
  }
  changed_.notify_all();
  helpers_.clear();  // joins the threads, each after its current job
  for (const Tally& tally : tallies_) tally.add_to(profile);
}

}  // namespace fkt
