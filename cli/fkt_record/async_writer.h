// SPDX-License-Identifier: GPL-2.0-only
// Writes that go on while their caller does something else: io_uring, or, where the kernel refuses
// that, pwritev(2) in place.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/result.h"
#include "lib/unique_fd.h"

struct io_uring;

namespace fkt::record {

class AsyncWriter {
 public:
  enum class Use { best, pwrite };  // pwrite: for tests
  // depth: how many writes may be under way at once.
  static Result<AsyncWriter> make(unsigned depth, Use use = Use::best);

  // Why pwritev is used; empty: io_uring is.
  const std::string& refusal() const { return refusal_; }
  unsigned under_way() const { return under_way_; }

  // Begins a write. Descriptor, pieces and what they point to stay until its answer has come.
  void write(std::uint64_t tag, int fd, std::span<const iovec> pieces, std::uint64_t offset);

  struct Answer {
    std::uint64_t tag = 0;
    std::int64_t result = 0;  // bytes, perhaps fewer than all, or -errno
  };
  // Readable when there are answers.
  int fd() const;
  // Those that have come; with `wait`, at least one if any is under way.
  std::vector<Answer> answers(bool wait);

 private:
  struct Close {
    void operator()(io_uring* ring) const;
  };
  AsyncWriter() = default;
  void submit();

  std::unique_ptr<io_uring, Close> ring_;  // nothing: pwritev
  UniqueFd event_;                         // pwritev's answers
  std::vector<Answer> ready_;
  std::string refusal_;
  unsigned under_way_ = 0;
};

}  // namespace fkt::record
