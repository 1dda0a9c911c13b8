// SPDX-License-Identifier: GPL-2.0-only
// The bytes of a file on their way to another machine, kept until that has them, and the frames
// that they travel in (include/fkt/remote.h).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <fkt/remote.h>

#include "lib/cursor.h"

namespace fkt::record {

class Outbox {
 public:
  // Appends bytes of the file; lent ones stay as they are until they are acknowledged, or clear().
  void add(std::string bytes);
  void add_lent(ByteView bytes);
  // The file is complete; its tail begins at `tail_offset`.
  void end(std::uint64_t tail_offset);

  std::uint64_t added() const { return added_; }                // bytes
  std::uint64_t acknowledged() const { return acknowledged_; }  // of them
  // Is anything left to be acknowledged?
  bool owes() const { return acknowledged_ < added_ || (ends_ && !end_acknowledged_); }

  // A new connection, on which the first frame begins at `offset`. What was under way on the old
  // one is forgotten. Precondition: acknowledged() <= offset <= added().
  void begin_at(std::uint64_t offset);
  // The other end has the bytes up to `offset`. False, and nothing happens, if they were not sent.
  bool acknowledge(std::uint64_t offset);
  // The same for the end. False if it was not sent.
  bool acknowledge_end();
  bool has_frames() const {
    return !frames_.empty() || framed_ < added_ || (ends_ && !end_framed_);
  }
  // Sends frames until the socket takes no more, or it was much at once. 0, or errno.
  int send(int fd);
  // Offset of the next frame that can be sent; false: one is half sent.
  bool between_frames(std::uint64_t& offset) const;
  // What was added behind `offset`, which was acknowledged, is forgotten, if it is not the end.
  void cut(std::uint64_t offset);
  void clear();

 private:
  // Bytes of the file from `offset` on, until they are acknowledged.
  struct Piece {
    std::uint64_t offset = 0;
    ByteView bytes;
    std::unique_ptr<std::string> owned;
    std::uint64_t end() const { return offset + bytes.size(); }
  };
  // On its way into the socket.
  struct Frame {
    fkt_remote_frame header{};
    ByteView payload;
    std::size_t sent = 0;  // of both together
    std::size_t size() const { return sizeof header + payload.size(); }
  };

  void add_piece(Piece piece);
  void make_frames();
  ByteView piece_at(std::uint64_t offset) const;
  int send_frames(int fd);
  void count_sent(std::size_t bytes);

  std::deque<Piece> pieces_;
  std::deque<Frame> frames_;
  std::uint64_t added_ = 0, acknowledged_ = 0;
  std::uint64_t framed_ = 0;  // up to where frames were made, on this connection
  std::uint64_t tail_offset_ = 0;
  bool ends_ = false, end_framed_ = false, end_acknowledged_ = false;
};

}  // namespace fkt::record
