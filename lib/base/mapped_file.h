// SPDX-License-Identifier: GPL-2.0-only
// The bytes of an input for random access: mapped, spooled to a file and mapped, or in memory.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/result.h"

namespace fkt {

// Returns the name of the input in messages: the path, or "standard input".
inline std::string input_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

// Returns an error when no wanted input begins with `head`: the input's first kInputHead bytes, or
// all of it when it is shorter.
using HeadCheck = std::function<Status(ByteView head)>;
inline constexpr std::size_t kInputHead = 64 << 10;

class MappedFile {
 public:
  // Maps a file or block device. An input that cannot be mapped (standard input as "-", pipes,
  // sockets) is first copied to an unlinked file in $TMPDIR, unless `check` refuses its beginning.
  // The file must not be shortened while it is mapped: access to the missing part raises SIGBUS.
  static Result<MappedFile> open(const std::string& path, const HeadCheck& check = {});
  // Copies `bytes` into memory that is aligned for 64-bit words, as a mapping is.
  static MappedFile copy(ByteView bytes);

  ByteView bytes() const { return {data_.get(), size_}; }
  // Takes these bytes out of this process's memory, if they are mapped: the next access reads them
  // from the file again. begin, end: offsets, rounded inwards to pages of memory.
  void forget(std::size_t begin, std::size_t end) const;

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
