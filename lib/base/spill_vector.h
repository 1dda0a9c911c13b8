// SPDX-License-Identifier: GPL-2.0-only
// SpillVector: an array that grows without moving, kept in an unlinked temporary file so that the
// kernel can write its pages back and reclaim the memory. When the file cannot be made or its disk
// is full, it grows in anonymous memory. The values added last are in memory until a piece is full:
// writing it at once takes a fourth of the time of stores to a mapping of the file, each page of
// which would cause a fault.
#pragma once

#include <sys/types.h>

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

  // Adds a piece, of which no byte has a known value. The piece before it is complete: it moves to
  // the file, where it can only be read. Returns nullptr when there is no memory for it.
  std::byte* add();
  // Valid until the next add().
  std::byte* operator[](std::size_t piece) const { return pieces_[piece].get(); }
  std::size_t size() const { return pieces_.size(); }
  bool in_memory() const { return in_memory_; }  // at least one piece is not in the file

 private:
  struct Unmap {
    void operator()(std::byte* piece) const;
  };
  using Piece = std::unique_ptr<std::byte, Unmap>;
  static Piece map(int access, int flags, int file, off_t at);
  Piece store(const std::byte* piece, std::size_t number);

  UniqueFd file_;
  bool in_memory_ = false;
  std::vector<Piece> pieces_;  // the last one is not in the file
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
