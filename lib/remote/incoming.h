// SPDX-License-Identifier: GPL-2.0-only
// The receiver's side of one connection, without the socket: bytes in, bytes out. All of them are
// a stranger's until the hello is proven, and nobody's to vouch for after that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fkt/remote.h>

#include "lib/cursor.h"
#include "lib/remote/token.h"
#include "lib/result.h"

namespace fkt::remote {

// Where a recording is put together, over all connections that bring it.
class Store {
 public:
  virtual ~Store() = default;

  struct Begun {
    fkt_remote_status status = FKT_REMOTE_GOING;
    std::uint64_t offset = 0;  // bytes written so far
    int error = 0;             // errno of FKT_REMOTE_FAILED
  };
  // A sender has proven itself; any connection before belongs to the past.
  virtual Begun begin(std::uint64_t recording, std::uint32_t page_bytes) = 0;
  // The next bytes. 0, or errno: then nothing of them counts.
  virtual int write(ByteView bytes) = 0;
  // Is there, where write() has failed, still room for the end of the recording?
  virtual bool has_reserve() const { return false; }
  // All is there: the tail begins at `tail_offset`. 0, or errno; EBADMSG: it is no recording.
  virtual int finish(std::uint64_t tail_offset) = 0;
  // There is no recording.
  virtual void abort() = 0;
};

class Incoming {
 public:
  // `token` and `store` must outlive it.
  Incoming(const Token& token, const Nonce& challenge, Store& store);

  // Takes what came. False: hang up, once what take_answers() returns is sent.
  bool take(ByteView bytes);
  // What is to be sent: at first the challenge.
  std::string take_answers();

  enum class Phase {
    hello,    // nobody yet
    open,     // proven, and the store has begun with it
    done,     // all has arrived
    bye,      // ... and the sender knows it; from here on take() returns false
    aborted,  // there is no recording
    failed,   // the store cannot go on
    dropped,  // the other end is not what it should be
  };
  Phase phase() const { return phase_; }
  // Does a sender speak here? For as long as take() returns true.
  bool is_open() const { return phase_ == Phase::open || phase_ == Phase::done; }
  // What is wrong, in the phases failed and dropped.
  const std::string& fault() const { return fault_; }

 private:
  // Bytes of the message that `rest` begins with, or 0: not all there.
  std::size_t take_one(ByteView rest);
  std::size_t take_hello(ByteView rest);
  std::size_t take_frame(ByteView rest);
  void take_contents(const fkt_remote_frame& frame, ByteView payload);
  void take_data(ByteView payload);
  void take_end(ByteView payload);
  void answer(const fkt_remote_hello& hello, const Store::Begun& begun, bool with_proof);
  void acknowledge(fkt_remote_status status, int error);
  void fail(Phase phase, std::string message);
  // The same for a message that stays where it is.
  std::size_t drop(std::string message);

  const Token& token_;
  const Nonce challenge_;
  Store& store_;
  Phase phase_ = Phase::hello;
  std::vector<std::byte> waiting_;  // the begin of a message whose end has not come
  std::string answers_;
  std::uint64_t offset_ = 0, acknowledged_ = 0;
  std::string fault_;
};

}  // namespace fkt::remote
