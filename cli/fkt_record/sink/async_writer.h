// SPDX-License-Identifier: GPL-2.0-only
// Asynchronous writes with io_uring. Where the kernel refuses io_uring, write() calls pwritev(2)
// and blocks.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

struct io_uring;

namespace fkt::record {

class AsyncWriter {
 public:
  enum class Use { best, pwrite };  // pwrite: for unit tests
  // depth: maximum number of writes in flight.
  static Result<AsyncWriter> make(unsigned depth, Use use = Use::best);

  // Why pwritev(2) is used instead; empty if io_uring is used.
  const std::string& refusal() const { return refusal_; }
  unsigned under_way() const { return under_way_; }

  // Starts a write. The file descriptor, `pieces` and the memory they point to must stay valid
  // until answers() returns the answer with this tag.
  void write(std::uint64_t tag, int fd, std::span<const iovec> pieces, std::uint64_t offset);

  struct Answer {
    std::uint64_t tag = 0;
    std::int64_t result = 0;  // bytes written, possibly fewer than requested, or -errno
  };
  // Readable when answers() has something to return.
  int fd() const;
  // Returns the answers that have arrived. With `wait`, waits for at least one if any write is in
  // flight.
  std::vector<Answer> answers(bool wait);

 private:
  struct Close {
    void operator()(io_uring* ring) const;
  };
  AsyncWriter() = default;
  void submit();

  std::unique_ptr<io_uring, Close> ring_;  // null: pwritev(2) is used
  UniqueFd event_;                         // signalled when pwritev(2) has produced an answer
  std::vector<Answer> ready_;
  std::string refusal_;
  unsigned under_way_ = 0;
};

}  // namespace fkt::record
