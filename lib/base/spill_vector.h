// SPDX-License-Identifier: GPL-2.0-only
// SpillVector: an array that grows without moving, kept in an unlinked temporary file so that the
// kernel can write its pages back and reclaim the memory. When the file cannot be made or its disk
// is full, it grows in anonymous memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "lib/base/unique_fd.h"

namespace fkt {

// The pieces of a SpillVector array, each kBytes long and mapped separately.
class SpillPieces {
 public:
  static constexpr std::size_t kBytes = 256 << 10;

  // Adds a piece filled with zeros; returns nullptr when it cannot be mapped.
  std::byte* add();
  std::byte* operator[](std::size_t piece) const { return pieces_[piece].get(); }
  std::size_t size() const { return pieces_.size(); }
  bool in_memory() const { return in_memory_; }  // at least one piece is not in the file

 private:
  struct Unmap {
    void operator()(std::byte* piece) const;
  };
  std::byte* map();

  UniqueFd file_;
  bool in_memory_ = false;
  std::vector<std::unique_ptr<std::byte, Unmap>> pieces_;
};

template <class T>
class SpillVector {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kInPiece = SpillPieces::kBytes / sizeof(T);

 public:
  // Returns false when no memory could be mapped for the value.
  bool push_back(const T& value) {
    if (size_ == pieces_.size() * kInPiece && pieces_.add() == nullptr) return false;
    new (place(size_)) T(value);
    size_++;
    return true;
  }
  const T& operator[](std::size_t i) const { return *place(i); }
  std::size_t size() const { return size_; }
  bool in_memory() const { return pieces_.in_memory(); }

 private:
  T* place(std::size_t i) const {
    return reinterpret_cast<T*>(pieces_[i / kInPiece]) + i % kInPiece;
  }
  SpillPieces pieces_;
  std::size_t size_ = 0;
};

}  // namespace fkt
