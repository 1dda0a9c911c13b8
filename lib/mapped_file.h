// SPDX-License-Identifier: GPL-2.0-only
// The bytes of an input, readable at random: mapped, spooled, or a copy in memory.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lib/cursor.h"
#include "lib/result.h"

namespace fkt {

// What messages call it: the path, or "standard input".
inline std::string input_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

// May an input that begins like this be one of those wanted? Its first bytes, kInputHead of them unless
// it ends before that.
using HeadCheck = std::function<Status(ByteView head)>;
inline constexpr std::size_t kInputHead = 64 << 10;

class MappedFile {
 public:
  // Maps a file or block device. What cannot be mapped (standard input as "-", pipes, sockets) is
  // first copied to an unlinked file in $TMPDIR, all of it if `check` is content with its beginning.
  // Nothing may shorten the file while it is mapped: the kernel answers that with SIGBUS, as for every
  // mapping.
  static Result<MappedFile> open(const std::string& path, const HeadCheck& check = {});
  // A copy of `bytes`, aligned as a mapping would be for 64-bit words.
  static MappedFile copy(ByteView bytes);

  ByteView bytes() const { return {data_.get(), size_}; }

 private:
  struct Release {  // munmap of `mapped` bytes, or delete[] when that is 0
    std::size_t mapped;
    void operator()(std::byte* data) const;
  };

  static Result<MappedFile> map(int fd);

  std::unique_ptr<std::byte[], Release> data_;
  std::size_t size_ = 0;
};

}  // namespace fkt
