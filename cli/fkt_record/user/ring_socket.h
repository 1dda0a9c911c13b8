// SPDX-License-Identifier: GPL-2.0-only
// The sockets at which programs ask for rings and numbers (include/fkt/user_ring.h): one in the
// abstract namespace, and one at a path, for programs in another network namespace.
//
// Anybody can connect to them, so each connection's process is looked at: a process of this
// process's or the user's uid may ask, and any descendant of this process, whatever rights it has
// given up or whose it is. Others get nothing but a refusal.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fkt/user_ring.h>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt::record {

class RingSocket {
 public:
  struct Thread {
    std::uint32_t tid = 0;      // as it knows it
    bool of_functions = false;  // the ring is for events of libfkt-func.so
  };
  struct Asker {
    pid_t tgid = 0;        // of the process; 0: it may not ask
    bool trusted = false;  // it has this process's rights
  };
  // What the recorder does with requests. An error is sent to the program as a refusal.
  struct Answers {
    // Returns the descriptor of a new ring, which is sent and closed here. tgid: the asking
    // process.
    std::function<Result<UniqueFd>(pid_t tgid, const Thread& asking)> attach;
    std::function<Result<fkt_user_answer>(std::string_view text)> define;
    std::function<Result<fkt_user_answer>(const Asker& asker, const fkt_user_func& function)>
        number;
  };
  // user: whose programs may ask, besides this process's user.
  static Result<RingSocket> open(uid_t user, Answers answers);
  RingSocket(RingSocket&&) noexcept = default;
  ~RingSocket();

  // Value of the environment's variable FKT_USER.
  const std::string& name() const { return name_; }
  // Appends what to wait for.
  void add_to(std::vector<pollfd>& fds) const;
  // Answers what has come, without waiting.
  void answer();
  std::uint64_t refused() const { return refused_; }
  // The number of requests of processes that may not ask.
  std::uint64_t strangers() const { return strangers_; }
  // The number of requests whose program had closed the connection before it was answered.
  std::uint64_t late() const { return late_; }

 private:
  RingSocket(std::string name, std::vector<UniqueFd> listeners, bool has_path, uid_t user,
             Answers answers)
      : name_(std::move(name)),
        listeners_(std::move(listeners)),
        has_path_(has_path),
        user_(user),
        answers_(std::move(answers)) {}
  // A connection without a request yet.
  struct Waiting {
    UniqueFd fd;
    Asker asker;
  };
  bool answer_one(const Waiting& one);
  Asker welcome(int connection) const;
  UniqueFd accept() const;
  void drop_one();

  std::string name_;
  std::vector<UniqueFd> listeners_;
  bool has_path_;
  uid_t user_;
  Answers answers_;
  std::vector<Waiting> waiting_;  // in the order in which they came
  std::uint64_t refused_ = 0, strangers_ = 0, late_ = 0;
};

}  // namespace fkt::record
