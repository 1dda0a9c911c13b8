// SPDX-License-Identifier: GPL-2.0-only
// The sender's side of a recording's way to another machine (include/fkt/remote.h): keeps what the
// receiver has not acknowledged, over any number of connections. Never blocks but where it says so.
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

#include "cli/fkt_record/outbox.h"
#include "cli/fkt_record/signals.h"
#include "lib/cursor.h"
#include "lib/remote/address.h"
#include "lib/remote/token.h"
#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt::record {

class RemoteLink {
 public:
  using Clock = std::chrono::steady_clock;

  struct Plan {
    std::string name;  // the messages' subject
    std::vector<remote::Endpoint> endpoints;
    remote::Token token;
    std::uint64_t recording = 0;
    std::uint32_t page_bytes = 0;
    std::chrono::nanoseconds wait{};            // without any progress, before it gives up
    std::function<void(std::string_view)> say;  // a line about a break, and about its end
  };

  // Why it can go no further. error: errno, 0 if there is none; message has the subject.
  struct Failure {
    int error = 0;
    std::string message;
  };

  // Makes the first connection, and waits for the receiver's answer. It is not tried again: what
  // is wrong then is for the user to mend.
  static Result<std::unique_ptr<RemoteLink>> connect(Plan plan);

  // As Outbox's; lent bytes are no longer read once move() has failed.
  void add(std::string bytes);
  void add_lent(ByteView bytes);
  void end(std::uint64_t tail_offset);

  const std::string& name() const { return plan_.name; }
  std::uint64_t added() const { return out_.added(); }                // bytes
  std::uint64_t acknowledged() const { return out_.acknowledged(); }  // of them
  bool is_open() const { return phase_ == Phase::open; }
  // The receiver has finished its file.
  bool is_done() const { return done_; }
  // Its disk is full (errno, else 0): what it did not acknowledge is gone from here too, and all
  // that may be added is the file's end.
  int full() const { return full_; }

  // Appends what the next move() waits for.
  void wait_for(std::vector<pollfd>& fds) const;
  // Sends and receives what can be without waiting. After a failure it repeats that.
  std::optional<Failure> move();
  // Waits: moves until `over` says so. False: `give_up` (a descriptor, or -1) became readable.
  Result<bool> move_until(const std::function<bool()>& over, int give_up);

  // Tells the receiver that there is no recording, if it can be told at once.
  void abort();
  // ... that nothing will come any more; the last call.
  void bye();

 private:
  enum class Phase { connecting, greeting, answer, open, waiting };

  explicit RemoteLink(Plan plan) : plan_(std::move(plan)) {}

  void step();
  void try_connection();
  bool is_connected();
  // Before something is added: until now there may have been nothing to make progress with.
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
  // The receiver will not be asked again.
  void fail(int error, const std::string& why);
  // The same for a message of its, of which nothing is taken.
  std::size_t refuse(const std::string& why);
  // The connection is gone; another one is made.
  void broken(const std::string& why);
  void look_at_clock();
  std::optional<Clock::time_point> next_deadline() const;
  void set_timer();

  Plan plan_;
  Phase phase_ = Phase::waiting;
  bool first_ = true;  // no connection was ever answered
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
