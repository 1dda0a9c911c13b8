// SPDX-License-Identifier: GPL-2.0-only
// A list of trivially copyable records that is filled, read, emptied and refilled many times, for
// loops in which the growth of a std::vector with each element would be most of the work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace fkt {

template <class T>
class RawVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::uint32_t size() const { return size_; }
  T& operator[](std::size_t i) { return records_[i]; }
  const T& operator[](std::size_t i) const { return records_[i]; }
  T* begin() { return records_.get(); }
  T* end() { return records_.get() + size_; }
  const T* begin() const { return records_.get(); }
  const T* end() const { return records_.get() + size_; }
  // The records from position `from` up to, not including, position `to`.
  std::span<const T> part(std::uint32_t from, std::uint32_t to) const {
    return {records_.get() + from, to - from};
  }

  bool empty() const { return size_ == 0; }

  void push_back(const T& record) {
    make_room();
    records_[size_++] = record;
  }
  // Returns the place behind the last record, to be written to. It is part of the list after
  // extend() only, and valid until something is added.
  T* spare() {
    make_room();
    return end();
  }
  // Makes room for `records` records altogether; those in the list stay.
  void reserve(std::size_t records) {
    if (records <= room_) return;
    std::unique_ptr<T[]> larger = std::make_unique_for_overwrite<T[]>(records);
    std::copy(begin(), end(), larger.get());
    records_ = std::move(larger);
    room_ = static_cast<std::uint32_t>(records);
  }
  // Makes the records that were written up to `end` part of the list; there must have been room.
  void extend(const T* end) { size_ = static_cast<std::uint32_t>(end - records_.get()); }
  // Empties the list; its memory is kept.
  void clear() {
    most_ = std::max(most_, size_);
    size_ = 0;
  }
  // Bytes of memory that were ever written to.
  std::size_t bytes() const { return std::max(most_, size_) * sizeof(T); }

 private:
  void make_room() {
    if (size_ == room_) [[unlikely]]
      reserve(std::max<std::size_t>(16, 2 * std::size_t{room_}));
  }

  std::unique_ptr<T[]> records_;
  std::uint32_t size_ = 0, room_ = 0;
  std::uint32_t most_ = 0;  // highest size before the last clear()
};

}  // namespace fkt
