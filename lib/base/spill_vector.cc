// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/spill_vector.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "lib/base/unnamed_file.h"

namespace fkt {

void SpillPieces::Unmap::operator()(std::byte* piece) const {
  ::munmap(piece, kBytes);
}

SpillPieces::Piece SpillPieces::map(int access, int flags, int file, off_t at) {
  void* const data = ::mmap(nullptr, kBytes, access, flags, file, at);
  return Piece(data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data));
}

// Writes a piece to the file and returns the mapping of it there; nullptr: it cannot be written. A
// full disk is found here, where stores to a mapping would raise SIGBUS.
SpillPieces::Piece SpillPieces::store(const std::byte* piece, std::size_t number) {
  const auto at = static_cast<off_t>(number * kBytes);
  if (number == 0) {
    Result<UniqueFd> file = unnamed_file();
    if (file) file_ = std::move(*file);
  }
  if (!file_) return nullptr;
  for (std::size_t done = 0; done < kBytes;) {
    const ssize_t n =
        ::pwrite(file_.get(), piece + done, kBytes - done, at + static_cast<off_t>(done));
    if (n <= 0) return nullptr;
    done += static_cast<std::size_t>(n);
  }
  return map(PROT_READ, MAP_SHARED, file_.get(), at);
}

std::byte* SpillPieces::add() {
  Piece free;
  if (!pieces_.empty()) {
    if (Piece stored = store(pieces_.back().get(), pieces_.size() - 1)) {
      free = std::exchange(pieces_.back(), std::move(stored));
    } else {
      in_memory_ = true;
    }
  }
  if (!free) free = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!free) return nullptr;
  pieces_.push_back(std::move(free));
  return pieces_.back().get();
}

}  // namespace fkt
