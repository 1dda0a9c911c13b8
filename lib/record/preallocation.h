// SPDX-License-Identifier: GPL-2.0-only
// Allocates file space ahead of the writes, in big steps: writes inside it need not wait for
// allocation, and the end of the recording still finds room when the disk becomes full.
#pragma once

#include <cstdint>

namespace fkt {

// Returns whether this errno means that there is no more room.
bool is_full(int error);

class Preallocation {
 public:
  // Whether allocating extends the file's size, or leaves it at the end of the bytes written.
  enum class Size { grows, stays };
  // from: bytes that the file already has.
  Preallocation(std::uint64_t from, Size size) : allocated_(from), size_(size) {}

  // Allocates at least up to byte `need`, ahead of need up to one step but not beyond `most`.
  // Returns 0 or errno; with is_full(errno) there is no room up to `need`, and what was allocated
  // before stays. Returns 0 also where the file system cannot allocate: then the writes fail when
  // the disk is full.
  int make(int fd, std::uint64_t need, std::uint64_t most);

 private:
  static constexpr std::uint64_t kLeastStep = 1 << 20, kMostStep = 64 << 20;

  bool possible_ = true;
  std::uint64_t allocated_;
  std::uint64_t step_ = kLeastStep;  // bytes of the next allocation; doubles, as in the module
  Size size_;
};

}  // namespace fkt
