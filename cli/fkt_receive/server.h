// SPDX-License-Identifier: GPL-2.0-only
// Listens, and brings one recording into its file: over one connection, or over several when they
// break. Strangers are told nothing, and cannot keep the sender out.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include <poll.h>

#include "lib/remote/address.h"
#include "lib/remote/incoming.h"
#include "lib/remote/token.h"
#include "lib/unique_fd.h"

namespace fkt::receive {

class Server {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(std::string_view)>;

  struct Plan {
    const remote::Token& token;
    remote::Store& store;
    std::chrono::nanoseconds wait;  // for a sender that broke off
    Say say;                        // one line each: who came, who went, and why
  };
  Server(const Plan& plan, UniqueFd listener) : plan_(plan), listener_(std::move(listener)) {}

  enum class End {
    done,     // all is there, and the sender knows it
    aborted,  // the sender says that there is no recording
    failed,   // the store failed
    gone,     // the sender did not come back
    stopped,  // `stop` became readable
  };
  // Serves until one of these. An error: the system refuses to go on.
  Result<End> run(int stop);

 private:
  struct Peer {
    UniqueFd fd;
    std::string name;
    remote::Incoming incoming;
    std::string out;
    Clock::time_point proven_by;  // or it goes
    std::string gone;             // why it is to be dropped; empty: it stays
  };

  void accept();
  void serve(Peer& peer, short events);
  void receive(Peer& peer);
  void send(Peer& peer);
  void follow(Peer& peer);
  void drop_the_gone();
  // When something is due although nothing comes.
  std::optional<Clock::time_point> next_deadline() const;
  int timeout() const;

  Plan plan_;
  UniqueFd listener_;
  std::list<Peer> peers_;
  Peer* sender_ = nullptr;                       // the one of them that brings the recording
  std::optional<Clock::time_point> returns_by_;  // a sender was here, and left
  bool done_ = false;                            // ... with nothing more to bring
  std::optional<End> end_;
  std::vector<std::byte> buffer_;
};

}  // namespace fkt::receive
