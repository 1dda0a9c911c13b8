// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sink/fetch_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/os_error.h"
#include "lib/base/write_file.h"

namespace fkt::record {
namespace {

constexpr std::size_t kMaxMove = 1 << 20;  // most bytes moved per call

bool readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & POLLIN);
}

}  // namespace

FetchStream::FetchStream(int device, int out, std::string name)
    : device_(device), out_(out), name_(std::move(name)), way_(Way::copy) {
  struct stat is {};
  if (::fstat(out_, &is) != 0) return;
  if (S_ISFIFO(is.st_mode)) way_ = Way::splice;
  // sendfile(2) fails if the output was opened with O_APPEND.
  if (S_ISREG(is.st_mode) && !(::fcntl(out_, F_GETFL) & O_APPEND)) way_ = Way::sendfile;
}

ssize_t FetchStream::copy_once() {
  buffer_.resize(kMaxMove);
  const ssize_t got = ::read(device_, buffer_.data(), buffer_.size());
  if (got <= 0) return got;
  const Status written =
      write_all(out_, ByteView(buffer_).first(static_cast<std::size_t>(got)), name_);
  return written ? got : -1;  // errno was set by write(2)
}

ssize_t FetchStream::move_once() {
  switch (way_) {
    case Way::splice:
      return ::splice(device_, nullptr, out_, nullptr, kMaxMove, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    case Way::sendfile:
      return ::sendfile(out_, device_, nullptr, kMaxMove);
    case Way::copy:
      break;
  }
  return copy_once();
}

Result<FetchStream::Moved> FetchStream::move() {
  const ssize_t moved = move_once();
  if (moved > 0) {
    reader_is_slow_ = false;
    return Moved::some;
  }
  if (moved == 0) return Moved::end;
  switch (errno) {
    case EINTR:
      return Moved::some;
    case EAGAIN:
      // If pages are waiting, the output is not writable.
      reader_is_slow_ = readable(device_);
      return Moved::later;
    case EPIPE:
      return Moved::closed;
    case EINVAL:
      if (way_ == Way::copy) break;
      way_ = Way::copy;
      return Moved::some;
  }
  return os_failure(name_);
}

Status FetchStream::move_rest(int give_up) {
  for (;;) {
    const auto moved = FKT_TRY(move());
    if (moved == Moved::end) return Done{};
    if (moved == Moved::closed) return os_failure(name_, EPIPE);
    if (moved == Moved::some) continue;
    pollfd fds[] = {{device_, device_events(), 0}, {out_, out_events(), 0}, {give_up, POLLIN, 0}};
    ::poll(fds, std::size(fds), -1);
    if (fds[2].revents) {
      return Error{ErrorCode::io, name_ + ": given up before the reader had taken it all"};
    }
  }
}

}  // namespace fkt::record
