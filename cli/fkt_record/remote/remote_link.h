// SPDX-License-Identifier: GPL-2.0-only
// The sender's side of a connection to fkt_receive (include/fkt/remote.h). Keeps the bytes that the
// receiver has not acknowledged, across any number of connections. Does not block, except in the
// functions that say so.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fkt/remote.h>

#include "cli/fkt_record/remote/outbox.h"
#include "cli/fkt_record/wait/signals.h"
#include "lib/base/bytes.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/remote/address.h"
#include "lib/remote/token.h"

namespace fkt::record {

class RemoteLink {
 public:
  using Clock = std::chrono::steady_clock;

  struct Plan {
    std::string name;  // subject of the messages
    std::vector<remote::Endpoint> endpoints;
    remote::Token token;
    std::uint64_t recording = 0;
    std::uint32_t page_bytes = 0;
    std::chrono::nanoseconds wait{};            // time without progress after which it gives up
    std::function<void(std::string_view)> say;  // prints a line about a lost or restored connection
  };

  // Why the transfer has failed. error: errno, or 0; message includes the subject.
  struct Failure {
    int error = 0;
    std::string message;
  };

  // Makes the first connection and blocks until the receiver has answered. A failure is not
  // retried, because its cause is likely one that the user has to fix.
  static Result<std::unique_ptr<RemoteLink>> connect(Plan plan);

  // As in Outbox. Lent bytes are not read any more once move() has failed.
  void add(std::string bytes);
  void add_lent(ByteView bytes);
  void end(std::uint64_t tail_offset);

  const std::string& name() const { return plan_.name; }
  std::uint64_t added() const { return out_.added(); }                // bytes
  std::uint64_t acknowledged() const { return out_.acknowledged(); }  // bytes that the receiver has
  bool is_open() const { return phase_ == Phase::open; }
  // True when the receiver has finished its file.
  bool is_done() const { return done_; }
  // The errno if the receiver's disk is full, else 0. The bytes it has not acknowledged are dropped
  // here, and only the end of the file may be added.
  int full() const { return full_; }

  // Appends what the next move() waits for.
  void wait_for(std::vector<pollfd>& fds) const;
  // Sends and receives what is possible without blocking. After a failure, returns that failure
  // again.
  std::optional<Failure> move();
  // Blocks, calling move(), until `over` returns true. Returns false if `give_up` (a descriptor, or
  // -1) became readable.
  Result<bool> move_until(const std::function<bool()>& over, int give_up);

  // Tells the receiver to drop the recording, if that is possible without blocking.
  void abort();
  // Tells the receiver that the transfer is complete; the last call.
  void bye();

 private:
  enum class Phase { connecting, greeting, answer, open, waiting };

  explicit RemoteLink(Plan plan) : plan_(std::move(plan)) {}

  void step();
  void try_connection();
  bool is_connected();
  // Called before bytes are added: restarts the time without progress if nothing was pending.
  void owe();
  void receive();
  std::size_t take_message(ByteView rest);
  std::size_t take_challenge(ByteView rest);
  std::size_t take_answer(ByteView rest);
  std::size_t take_ack(ByteView rest);
  void go_on_at(std::uint64_t offset);
  void cut_at(std::uint64_t offset, int error);
  bool refused(std::uint32_t status, int error);
  void send();
  bool send_text(std::string_view text);
  void send_last(fkt_remote_frame_type type);
  // Gives up: no further connection is made.
  void fail(int error, const std::string& why);
  // Fails because of a message from the receiver; returns 0, the number of bytes consumed from it.
  std::size_t refuse(const std::string& why);
  // Called when the connection is lost: schedules another one.
  void broken(const std::string& why);
  void look_at_clock();
  std::optional<Clock::time_point> next_deadline() const;
  void set_timer();

  Plan plan_;
  Phase phase_ = Phase::waiting;
  bool first_ = true;  // until the receiver has answered for the first time
  UniqueFd fd_;
  Timer timer_;
  std::size_t next_endpoint_ = 0;
  Clock::time_point retry_at_{}, answered_by_{}, progress_{};
  std::chrono::nanoseconds pause_{};
  fkt_remote_hello hello_{};
  remote::Nonce challenge_{};
  std::vector<std::byte> in_;
  std::string broken_by_;

  Outbox out_;
  bool done_ = false;
  int full_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace fkt::record
