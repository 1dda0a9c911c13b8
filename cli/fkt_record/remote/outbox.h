// SPDX-License-Identifier: GPL-2.0-only
// The bytes of a file on their way to another machine, kept until the receiver has acknowledged
// them, and the frames that carry them (include/fkt/remote.h).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <fkt/remote.h>

#include "lib/base/bytes.h"

namespace fkt::record {

class Outbox {
 public:
  // Appends bytes to the file. Lent bytes must stay valid until they are acknowledged or clear() is
  // called.
  void add(std::string bytes);
  void add_lent(ByteView bytes);
  // Marks the file as complete. tail_offset: offset of its tail in bytes.
  void end(std::uint64_t tail_offset);

  std::uint64_t added() const { return added_; }                // bytes appended
  std::uint64_t acknowledged() const { return acknowledged_; }  // bytes the receiver has
  // Returns true while bytes or the end are not acknowledged.
  bool owes() const { return acknowledged_ < added_ || (ends_ && !end_acknowledged_); }

  // Starts again on a new connection, with the first frame at `offset`; unfinished frames of the
  // old connection are dropped. Requires acknowledged() <= offset <= added().
  void begin_at(std::uint64_t offset);
  // The receiver has the bytes up to `offset`. Returns false, without effect, if they were not sent
  // yet.
  bool acknowledge(std::uint64_t offset);
  // The receiver has finished the file. Returns false if the end was not sent yet.
  bool acknowledge_end();
  bool has_frames() const {
    return !frames_.empty() || framed_ < added_ || (ends_ && !end_framed_);
  }
  // Sends frames until the socket is full or the limit of bytes per call is reached. Returns 0 or
  // errno.
  int send(int fd);
  // Stores the offset of the next frame. Returns false if a frame is partly sent.
  bool between_frames(std::uint64_t& offset) const;
  // Drops all bytes after `offset`, which must be acknowledged; no effect if end() was called.
  void cut(std::uint64_t offset);
  void clear();

 private:
  // A run of bytes of the file beginning at `offset`, kept until all of it is acknowledged.
  struct Piece {
    std::uint64_t offset = 0;
    ByteView bytes;
    std::unique_ptr<std::string> owned;
    std::uint64_t end() const { return offset + bytes.size(); }
  };
  // A frame being sent.
  struct Frame {
    fkt_remote_frame header{};
    ByteView payload;
    std::size_t sent = 0;  // bytes of header and payload together
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
  std::uint64_t framed_ = 0;  // end of the bytes put into frames on this connection
  std::uint64_t tail_offset_ = 0;
  bool ends_ = false, end_framed_ = false, end_acknowledged_ = false;
};

}  // namespace fkt::record
