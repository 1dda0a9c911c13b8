// SPDX-License-Identifier: GPL-2.0-only
#include "lib/remote/incoming.h"

#include <errno.h>

#include <cstring>

#include <fmt/core.h>

#include "lib/base/crc32.h"
#include "lib/base/os_error.h"
#include "lib/remote/message.h"

namespace fkt::remote {

Incoming::Incoming(const Token& token, const Nonce& challenge, Store& store)
    : token_(token), challenge_(challenge), store_(store) {
  fkt_remote_challenge message{FKT_REMOTE_MAGIC, FKT_REMOTE_VERSION, {}};
  std::memcpy(message.nonce, challenge_.data(), challenge_.size());
  append_message(answers_, message);
}

std::string Incoming::take_answers() {
  if (offset_ != acknowledged_ && is_open()) acknowledge(FKT_REMOTE_GOING, 0);
  return std::exchange(answers_, {});
}

bool Incoming::take(ByteView bytes) {
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  std::size_t taken = 0;
  while (phase_ <= Phase::done) {
    const std::size_t size = take_one(ByteView(waiting_).subspan(taken));
    if (size == 0) break;
    taken += size;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(taken));
  return phase_ <= Phase::done;
}

std::size_t Incoming::take_one(ByteView rest) {
  return phase_ == Phase::hello ? take_hello(rest) : take_frame(rest);
}

std::size_t Incoming::take_hello(ByteView rest) {
  MessageBegin begin{};
  if (!read_at(rest, 0, begin)) return 0;
  if (begin.magic != FKT_REMOTE_MAGIC) return drop("it is no fkt_record");
  if (begin.version != FKT_REMOTE_VERSION) return drop(other_version(begin.version));
  fkt_remote_hello hello{};
  if (!read_at(rest, 0, hello)) return 0;
  if (!proven(token_, challenge_, hello)) {
    answer(hello, {FKT_REMOTE_DENIED, 0, 0}, false);
    return drop("wrong token");
  }
  if (!is_page_size(hello.page_bytes)) {
    return drop(fmt::format("pages of {} bytes", hello.page_bytes));
  }
  const Store::Begun begun = store_.begin(hello.recording, hello.page_bytes);
  offset_ = acknowledged_ = begun.offset;
  answer(hello, begun, true);
  switch (begun.status) {
    case FKT_REMOTE_BUSY:
      return drop("it has another recording");
    case FKT_REMOTE_FAILED:
      fail(Phase::failed, os_error(begun.error));
      return 0;
    default:
      phase_ = begun.status == FKT_REMOTE_DONE ? Phase::done : Phase::open;
      return sizeof hello;
  }
}

std::size_t Incoming::take_frame(ByteView rest) {
  fkt_remote_frame frame{};
  if (!read_at(rest, 0, frame)) return 0;
  if (frame.magic != FKT_REMOTE_MAGIC) return drop("no frame where one should begin");
  if (frame.bytes > FKT_REMOTE_FRAME_MOST) {
    return drop(fmt::format("a frame of {} bytes", frame.bytes));
  }
  const std::size_t size = sizeof frame + frame.bytes;
  if (rest.size() < size) return 0;
  const ByteView payload = rest.subspan(sizeof frame, frame.bytes);
  if (frame.checksum != frame_checksum(frame, payload)) {
    return drop("a frame that does not have its checksum");
  }
  if (frame.offset != offset_) return drop("a frame for another place");
  take_contents(frame, payload);
  return size;
}

void Incoming::take_contents(const fkt_remote_frame& frame, ByteView payload) {
  const bool done = phase_ == Phase::done;
  switch (frame.type) {
    case FKT_REMOTE_DATA:
      return done ? fail(Phase::dropped, "more of what is finished") : take_data(payload);
    case FKT_REMOTE_END:
      // A sender repeats the end when the acknowledgement was lost.
      return done ? acknowledge(FKT_REMOTE_DONE, 0) : take_end(payload);
    case FKT_REMOTE_ABORT:
      if (done) return fail(Phase::dropped, "more of what is finished");
      store_.abort();
      phase_ = Phase::aborted;
      return;
    case FKT_REMOTE_BYE:
      if (!done) return fail(Phase::dropped, "it leaves before the end");
      phase_ = Phase::bye;
      return;
    default:
      fail(Phase::dropped, fmt::format("a frame of type {}", frame.type));
  }
}

void Incoming::take_data(ByteView payload) {
  const int error = store_.write(payload);
  if (error == 0) {
    offset_ += payload.size();
  } else if (store_.has_reserve()) {
    acknowledge(FKT_REMOTE_FULL, error);
    fail(Phase::dropped, os_error(error) + ": only the recording's end can still come");
  } else {
    acknowledge(FKT_REMOTE_FAILED, error);
    fail(Phase::failed, os_error(error));
  }
}

void Incoming::take_end(ByteView payload) {
  std::uint64_t tail_offset = 0;
  if (payload.size() != sizeof tail_offset || !read_at(payload, 0, tail_offset)) {
    return fail(Phase::dropped, fmt::format("an end of {} bytes", payload.size()));
  }
  if (const int error = store_.finish(tail_offset)) {
    acknowledge(FKT_REMOTE_FAILED, error);
    return fail(Phase::failed, error == EBADMSG ? "what came is no recording" : os_error(error));
  }
  phase_ = Phase::done;
  acknowledge(FKT_REMOTE_DONE, 0);
}

void Incoming::answer(const fkt_remote_hello& hello, const Store::Begun& begun, bool with_proof) {
  fkt_remote_answer message{FKT_REMOTE_MAGIC, begun.status, begun.offset, begun.error, 0, {}};
  if (with_proof) prove(token_, challenge_, hello, message);
  append_message(answers_, message);
}

void Incoming::acknowledge(fkt_remote_status status, int error) {
  append_message(answers_, fkt_remote_ack{FKT_REMOTE_MAGIC, status, offset_, error, 0});
  acknowledged_ = offset_;
}

void Incoming::fail(Phase phase, std::string message) {
  phase_ = phase;
  fault_ = std::move(message);
}

std::size_t Incoming::drop(std::string message) {
  fail(Phase::dropped, std::move(message));
  return 0;
}

}  // namespace fkt::remote
