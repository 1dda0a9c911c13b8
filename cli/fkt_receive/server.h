// SPDX-License-Identifier: GPL-2.0-only
// Listens for connections and stores one recording in its file, over one connection or several if
// they break. Peers without the token get no information and cannot keep the sender out.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include <poll.h>

#include "lib/base/unique_fd.h"
#include "lib/remote/address.h"
#include "lib/remote/incoming.h"
#include "lib/remote/token.h"

namespace fkt::receive {

class Server {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(std::string_view)>;

  struct Plan {
    const remote::Token& token;
    remote::Store& store;
    std::chrono::nanoseconds wait;  // for the sender to reconnect
    Say say;                        // prints a line about connections made and lost
  };
  Server(const Plan& plan, UniqueFd listener) : plan_(plan), listener_(std::move(listener)) {}

  enum class End {
    done,     // the file is complete and the sender has been told
    aborted,  // the sender has dropped the recording
    failed,   // the store has failed
    gone,     // the sender did not reconnect in time
    stopped,  // `stop` became readable
  };
  // Serves until one of the Ends. Returns an error if a system call fails.
  Result<End> run(int stop);

 private:
  struct Peer {
    UniqueFd fd;
    std::string name;
    remote::Incoming incoming;
    std::string out;
    Clock::time_point proven_by;  // deadline for proving the token
    std::string gone;             // why it is to be dropped; empty: it is not
  };

  void accept();
  void serve(Peer& peer, short events);
  void receive(Peer& peer);
  void send(Peer& peer);
  void follow(Peer& peer);
  void drop_the_gone();
  // The earliest deadline, if any.
  std::optional<Clock::time_point> next_deadline() const;
  int timeout() const;

  Plan plan_;
  UniqueFd listener_;
  std::list<Peer> peers_;
  Peer* sender_ = nullptr;  // the peer that sends the recording; null: none
  // Deadline for the sender to reconnect; none: it is connected, or has not come yet.
  std::optional<Clock::time_point> returns_by_;
  bool done_ = false;  // the recording is complete
  std::optional<End> end_;
  std::vector<std::byte> buffer_;
};

}  // namespace fkt::receive
