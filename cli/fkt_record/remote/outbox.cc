// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/remote/outbox.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <span>
#include <vector>

#include "lib/remote/message.h"

namespace fkt::record {
namespace {

constexpr std::size_t kMostFrames = 16;  // frames per call of sendmsg(2)
// Bytes per call of send(), so that the caller can do other work.
constexpr std::size_t kMostAtOnce = 4 << 20;

}  // namespace

void Outbox::add(std::string bytes) {
  auto owned = std::make_unique<std::string>(std::move(bytes));
  const ByteView selection = std::as_bytes(std::span(*owned));
  add_piece({added_, selection, std::move(owned)});
}

void Outbox::add_lent(ByteView bytes) {
  add_piece({added_, bytes, nullptr});
}

void Outbox::add_piece(Piece piece) {
  added_ = piece.end();
  pieces_.push_back(std::move(piece));
}

void Outbox::end(std::uint64_t tail_offset) {
  tail_offset_ = tail_offset;
  ends_ = true;
}

void Outbox::begin_at(std::uint64_t offset) {
  frames_.clear();
  framed_ = offset;
  end_framed_ = false;
  acknowledge(offset);
}

bool Outbox::acknowledge(std::uint64_t offset) {
  const std::uint64_t sent = frames_.empty() ? framed_ : frames_.front().header.offset;
  if (offset < acknowledged_ || offset > sent) return false;
  acknowledged_ = offset;
  while (!pieces_.empty() && pieces_.front().end() <= offset) pieces_.pop_front();
  return true;
}

bool Outbox::acknowledge_end() {
  end_acknowledged_ = end_framed_ && frames_.empty() && acknowledged_ == added_;
  return end_acknowledged_;
}

bool Outbox::between_frames(std::uint64_t& offset) const {
  offset = frames_.empty() ? framed_ : frames_.front().header.offset;
  return frames_.empty() || frames_.front().sent == 0;
}

void Outbox::cut(std::uint64_t offset) {
  if (ends_) return;
  clear();
  added_ = framed_ = offset;
}

void Outbox::clear() {
  frames_.clear();
  pieces_.clear();
}

int Outbox::send(int fd) {
  const std::uint64_t before = framed_;
  for (;;) {
    make_frames();
    if (frames_.empty() || framed_ - before > kMostAtOnce) return 0;
    const int error = send_frames(fd);
    if (error != 0) return error == EAGAIN ? 0 : error;
  }
}

void Outbox::make_frames() {
  while (frames_.size() < kMostFrames && framed_ < added_) {
    const ByteView bytes = piece_at(framed_);
    frames_.push_back({remote::make_frame(FKT_REMOTE_DATA, framed_, bytes), bytes, 0});
    framed_ += bytes.size();
  }
  if (!ends_ || end_framed_ || framed_ < added_) return;
  const ByteView tail = std::as_bytes(std::span(&tail_offset_, 1));
  frames_.push_back({remote::make_frame(FKT_REMOTE_END, framed_, tail), tail, 0});
  end_framed_ = true;
}

// The bytes of the file from `offset` to the end of their piece, at most what one frame can hold.
ByteView Outbox::piece_at(std::uint64_t offset) const {
  const auto piece = std::ranges::upper_bound(pieces_, offset, {}, &Piece::end);
  return subview(piece->bytes, offset - piece->offset, FKT_REMOTE_FRAME_MOST);
}

int Outbox::send_frames(int fd) {
  std::vector<iovec> parts;
  for (const Frame& frame : frames_) {
    const ByteView header = std::as_bytes(std::span(&frame.header, 1));
    const std::size_t skip = frame.sent - std::min(frame.sent, header.size());
    for (const ByteView part : {subview(header, frame.sent, header.size()),
                                subview(frame.payload, skip, frame.payload.size())}) {
      if (!part.empty()) parts.push_back({const_cast<std::byte*>(part.data()), part.size()});
    }
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const ssize_t done = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  if (done < 0) return errno == EINTR ? 0 : errno;
  count_sent(static_cast<std::size_t>(done));
  return 0;
}

void Outbox::count_sent(std::size_t bytes) {
  while (bytes > 0) {
    Frame& frame = frames_.front();
    const std::size_t part = std::min(bytes, frame.size() - frame.sent);
    frame.sent += part;
    bytes -= part;
    if (frame.sent == frame.size()) frames_.pop_front();
  }
}

}  // namespace fkt::record
