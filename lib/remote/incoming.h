// SPDX-License-Identifier: GPL-2.0-only
// The receiver's side of one connection, without the socket: bytes in, bytes out. All input is
// untrusted: before the hello is proven it may come from anywhere, and later frames have only a
// checksum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fkt/remote.h>

#include "lib/base/bytes.h"
#include "lib/base/result.h"
#include "lib/remote/token.h"

namespace fkt::remote {

// Assembles a recording from the connections that bring it.
class Store {
 public:
  virtual ~Store() = default;

  struct Begun {
    fkt_remote_status status = FKT_REMOTE_GOING;
    std::uint64_t offset = 0;  // bytes of the recording written so far
    int error = 0;             // errno if status is FKT_REMOTE_FAILED
  };
  // A sender has proven that it knows the token; it replaces any earlier connection.
  // `recording` is its random id (fkt_remote_hello).
  virtual Begun begin(std::uint64_t recording, std::uint32_t page_bytes) = 0;
  // Writes the next bytes. Returns 0, or errno: then none of the bytes count.
  virtual int write(ByteView bytes) = 0;
  // After write() failed: returns whether there is still room for the end of the recording.
  virtual bool has_reserve() const { return false; }
  // The recording is complete and its tail begins at byte `tail_offset`. Returns 0 or errno;
  // EBADMSG when the contents are no recording.
  virtual int finish(std::uint64_t tail_offset) = 0;
  // The sender has dropped the recording.
  virtual void abort() = 0;
};

class Incoming {
 public:
  // `token` and `store` must outlive this.
  Incoming(const Token& token, const Nonce& challenge, Store& store);

  // Takes received bytes. Returns false when the connection is to be closed after sending what
  // take_answers() returns.
  bool take(ByteView bytes);
  // Returns the bytes to be sent; the first ones are the challenge.
  std::string take_answers();

  enum class Phase {
    hello,    // waiting for the hello
    open,     // the sender is proven and the store has begun
    done,     // the recording is complete
    bye,      // the sender knows that too; take() returns false
    aborted,  // the sender gave the recording up
    failed,   // the store cannot continue
    dropped,  // refused: wrong token, broken protocol, another recording, full disk
  };
  Phase phase() const { return phase_; }
  // Returns whether a proven sender is connected, while take() returns true.
  bool is_open() const { return phase_ == Phase::open || phase_ == Phase::done; }
  // What went wrong, in the phases failed and dropped.
  const std::string& fault() const { return fault_; }

 private:
  // Return the size of the message at the begin of `rest`; 0 when it is incomplete or was refused.
  std::size_t take_one(ByteView rest);
  std::size_t take_hello(ByteView rest);
  std::size_t take_frame(ByteView rest);
  void take_contents(const fkt_remote_frame& frame, ByteView payload);
  void take_data(ByteView payload);
  void take_end(ByteView payload);
  void answer(const fkt_remote_hello& hello, const Store::Begun& begun, bool with_proof);
  void acknowledge(fkt_remote_status status, int error);
  void fail(Phase phase, std::string message);
  // As fail(Phase::dropped, ...); returns 0 because the message is not taken.
  std::size_t drop(std::string message);

  const Token& token_;
  const Nonce challenge_;
  Store& store_;
  Phase phase_ = Phase::hello;
  std::vector<std::byte> waiting_;  // begin of a message that is incomplete
  std::string answers_;
  std::uint64_t offset_ = 0, acknowledged_ = 0;
  std::string fault_;
};

}  // namespace fkt::remote
