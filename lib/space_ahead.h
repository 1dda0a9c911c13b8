// SPDX-License-Identifier: GPL-2.0-only
// File space that is allocated before it is needed, in big steps: writes inside it need not wait,
// and what must stand behind them finds room on a full disk.
#pragma once

#include <cstdint>

namespace fkt {

// Does this errno say that there is no more room?
bool is_full(int error);

class SpaceAhead {
 public:
  // Does the file's size grow with the space, or does it stay where its bytes end?
  enum class Size { grows, stays };
  // from: what the file has already (bytes).
  SpaceAhead(std::uint64_t from, Size size) : allocated_(from), size_(size) {}

  // Space up to `need`, and some more, but not beyond `most` for its own sake. 0, or errno: with
  // is_full() the disk has less than `need`, and what is allocated stays. Where the file system
  // cannot allocate it says 0: the writes themselves find room, or say that there is none.
  int make(int fd, std::uint64_t need, std::uint64_t most);

 private:
  static constexpr std::uint64_t kLeastStep = 1 << 20, kMostStep = 64 << 20;

  bool possible_ = true;
  std::uint64_t allocated_;
  std::uint64_t step_ = kLeastStep;  // of the next allocation; doubles, as the module's
  Size size_;
};

}  // namespace fkt
