// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/preallocation.h"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>

namespace fkt {

bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

int Preallocation::make(int fd, std::uint64_t need, std::uint64_t most) {
  const int mode = size_ == Size::stays ? FALLOC_FL_KEEP_SIZE : 0;
  while (possible_ && need > allocated_) {
    const std::uint64_t goal = std::max(need, std::min(allocated_ + step_, most));
    // Not posix_fallocate(3): where the file system cannot allocate it writes zeros instead.
    const int done = ::fallocate(fd, mode, static_cast<off_t>(allocated_),
                                 static_cast<off_t>(goal - allocated_));
    const int error = done < 0 ? errno : 0;
    if (error == 0) {
      allocated_ = goal;
      step_ = std::min(step_ * 2, kMostStep);
    } else if (error == EOPNOTSUPP || error == ENODEV || error == EINVAL) {
      possible_ = false;
    } else if (goal > need && is_full(error)) {
      step_ = std::max<std::uint64_t>(step_ / 2, 1);
    } else if (error != EINTR) {
      return error;
    }
  }
  return 0;
}

}  // namespace fkt
