// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sink/async_writer.h"

#include <errno.h>
#include <liburing.h>
#include <unistd.h>

#include <utility>

#include "lib/base/event_fd.h"
#include "lib/base/os_error.h"

namespace fkt::record {

void AsyncWriter::Close::operator()(io_uring* ring) const {
  io_uring_queue_exit(ring);
  delete ring;
}

Result<AsyncWriter> AsyncWriter::make(unsigned depth, Use use) {
  AsyncWriter writer;
  int refused = ENOSYS;
  if (use == Use::best) {
    auto ring = std::make_unique<io_uring>();
    refused = -io_uring_queue_init(depth, ring.get(), 0);
    if (refused == 0) writer.ring_.reset(ring.release());
  }
  if (writer.ring_) {
    return writer;
  }
  writer.refusal_ = os_error(refused);
  writer.event_ = make_event_fd();
  if (!writer.event_) return os_failure("eventfd");
  return writer;
}

int AsyncWriter::fd() const {
  return ring_ ? ring_->ring_fd : event_.get();
}

void AsyncWriter::submit() {
  // An entry that cannot be submitted now (out of memory) goes with the next submit; answers()
  // submits too.
  int done;
  do {
    done = io_uring_submit(ring_.get());
  } while (done == -EINTR);
}

void AsyncWriter::write(std::uint64_t tag, int fd, std::span<const iovec> pieces,
                        std::uint64_t offset) {
  under_way_++;
  const auto count = static_cast<unsigned>(pieces.size());
  if (ring_) {
    if (io_uring_sqe* entry = io_uring_get_sqe(ring_.get())) {
      io_uring_prep_writev(entry, fd, pieces.data(), count, offset);
      io_uring_sqe_set_data64(entry, tag);
      submit();
      return;
    }
    // More than `depth` in flight, a bug of the caller: reported as retryable, so that nothing is
    // lost.
    ready_.push_back({tag, -EAGAIN});
    return;
  }
  ssize_t done;
  do {
    done = ::pwritev(fd, pieces.data(), static_cast<int>(count), static_cast<off_t>(offset));
  } while (done < 0 && errno == EINTR);
  ready_.push_back({tag, done < 0 ? -errno : done});
  signal_event(event_);
}

std::vector<AsyncWriter::Answer> AsyncWriter::answers(bool wait) {
  std::vector<Answer> out = std::exchange(ready_, {});
  if (!ring_) {
    std::uint64_t count = 0;
    (void)!::read(event_.get(), &count, sizeof count);
  } else if (under_way_ > out.size()) {
    io_uring_cqe* entry = nullptr;
    submit();
    while (wait && out.empty() && io_uring_wait_cqe(ring_.get(), &entry) == -EINTR) {
    }
    while (io_uring_peek_cqe(ring_.get(), &entry) == 0) {
      out.push_back({io_uring_cqe_get_data64(entry), entry->res});
      io_uring_cqe_seen(ring_.get(), entry);
    }
  }
  under_way_ -= static_cast<unsigned>(out.size());
  return out;
}

}  // namespace fkt::record
