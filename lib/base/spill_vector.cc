// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/spill_vector.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "lib/base/unnamed_file.h"

namespace fkt {

void SpillPieces::Unmap::operator()(std::byte* piece) const {
  ::munmap(piece, kBytes);
}

std::byte* SpillPieces::map() {
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  const auto at = static_cast<off_t>(pieces_.size() * kBytes);
  if (pieces_.empty()) {
    Result<UniqueFd> file = unnamed_file();
    if (file) file_ = std::move(*file);
  }
  void* data = MAP_FAILED;
  // Allocate the file's space first: writing to the mapping on a full disk would raise SIGBUS.
  if (file_ && ::posix_fallocate(file_.get(), at, kBytes) == 0) {
    data = ::mmap(nullptr, kBytes, kAccess, MAP_SHARED, file_.get(), at);
  }
  if (data == MAP_FAILED) {
    in_memory_ = true;
    data = ::mmap(nullptr, kBytes, kAccess, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

std::byte* SpillPieces::add() {
  std::byte* piece = map();
  if (piece != nullptr) pieces_.emplace_back(piece);
  return piece;
}

}  // namespace fkt
