// SPDX-License-Identifier: GPL-2.0-only
// A list of plain records that is filled, read, emptied and filled again, for where std::vector's
// growth with each element is most of the work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace fkt {

template <class T>
class Records {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::uint32_t size() const { return size_; }
  T& operator[](std::size_t i) { return records_[i]; }
  const T& operator[](std::size_t i) const { return records_[i]; }
  T* begin() { return records_.get(); }
  T* end() { return records_.get() + size_; }
  const T* begin() const { return records_.get(); }
  const T* end() const { return records_.get() + size_; }
  // From one position to another.
  std::span<const T> part(std::uint32_t from, std::uint32_t to) const {
    return {records_.get() + from, to - from};
  }

  bool empty() const { return size_ == 0; }

  void push_back(const T& record) {
    make_room();
    records_[size_++] = record;
  }
  // The record behind the last one, to be written; it is not part of the list until extend(). Valid
  // until anything is added.
  T* spare() {
    make_room();
    return end();
  }
  // Room for so many altogether. What it holds stays.
  void reserve(std::size_t records) {
    if (records <= room_) return;
    std::unique_ptr<T[]> larger = std::make_unique_for_overwrite<T[]>(records);
    std::copy(begin(), end(), larger.get());
    records_ = std::move(larger);
    room_ = static_cast<std::uint32_t>(records);
  }
  // Those up to `end` were written where there was room for them.
  void extend(const T* end) { size_ = static_cast<std::uint32_t>(end - records_.get()); }
  // Keeps its memory.
  void clear() {
    most_ = std::max(most_, size_);
    size_ = 0;
  }
  // Memory that was ever written to.
  std::size_t bytes() const { return std::max(most_, size_) * sizeof(T); }

 private:
  void make_room() {
    if (size_ == room_) [[unlikely]]
      reserve(std::max<std::size_t>(16, 2 * std::size_t{room_}));
  }

  std::unique_ptr<T[]> records_;
  std::uint32_t size_ = 0, room_ = 0;
  std::uint32_t most_ = 0;  // that it held before
};

}  // namespace fkt
