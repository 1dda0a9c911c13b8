// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/ring_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "lib/base/os_error.h"
#include "lib/base/random.h"

namespace fkt::record {
namespace {

// Most connections that have sent no request yet. Beyond it the process that has most of them loses
// its oldest one, so that it cannot block other programs.
constexpr std::size_t kMostWaiting = 64;
constexpr int kBacklog = 1024;

// Returns whether the answer was sent; false: the program has closed the connection.
bool reply(int connection, const fkt_user_answer& answer, int fd) {
  fkt_user_answer copy = answer;
  iovec part{&copy, sizeof copy};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  return ::sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

}  // namespace

Result<RingSocket> RingSocket::open(uid_t user, Answers answers) {
  const Result<std::string> token = random_token();
  if (!token) return token.error();
  const std::string name = "fkt-user-" + *token;
  UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return os_failure("socket");
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at), bytes) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    return os_failure("the socket for user programs");
  }
  return RingSocket(name, std::move(listener), user, std::move(answers));
}

void RingSocket::add_to(std::vector<pollfd>& fds) const {
  fds.push_back({listener_.get(), POLLIN, 0});
  for (const Waiting& one : waiting_) fds.push_back({one.fd.get(), POLLIN, 0});
}

pid_t RingSocket::welcome(int connection) const {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return 0;
  return peer.uid == user_ || peer.uid == ::geteuid() ? std::max(peer.pid, 0) : 0;
}

// Returns whether the connection can be closed.
bool RingSocket::answer_one(const Waiting& one) {
  const int connection = one.fd.get();
  fkt_user_ask ask{};
  const ssize_t got = ::recv(connection, &ask, sizeof ask, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  fkt_user_answer answer{FKT_USER_MAGIC, 0, 0, 0};
  UniqueFd ring;
  const bool good = got >= static_cast<ssize_t>(FKT_USER_ASK_BYTES) &&
                    ask.magic == FKT_USER_MAGIC && ask.version == FKT_USER_VERSION && one.tgid != 0;
  const std::size_t text_bytes = good ? static_cast<std::size_t>(got) - FKT_USER_ASK_BYTES : 0;
  const bool of_functions = ask.request == FKT_USER_ATTACH_FUNC;
  if (good && (ask.request == FKT_USER_ATTACH || of_functions)) {
    if (Result<UniqueFd> made = answers_.attach(one.tgid, {ask.tid, of_functions})) {
      ring = std::move(*made);
      answer.good = 1;
    }
  } else if (good && ask.request == FKT_USER_DEFINE) {
    if (const auto made = answers_.define({ask.text, text_bytes})) answer = *made;
  } else if (good && ask.request == FKT_USER_FUNC && text_bytes == sizeof(fkt_user_func)) {
    fkt_user_func function{};
    std::memcpy(&function, ask.text, sizeof function);
    if (const auto made = answers_.number(one.tgid, function)) answer = *made;
  }
  if (!answer.good && got > 0) refused_++;
  if (!reply(connection, answer, ring.get()) && answer.good) late_++;
  return true;
}

void RingSocket::drop_one() {
  std::map<pid_t, std::size_t> counts;
  for (const Waiting& one : waiting_) counts[one.tgid]++;
  const pid_t most =
      std::ranges::max_element(counts, {}, [](const auto& of) { return of.second; })->first;
  waiting_.erase(std::ranges::find(waiting_, most, &Waiting::tgid));
  refused_++;
}

void RingSocket::answer() {
  for (;;) {
    std::erase_if(waiting_, [this](const Waiting& one) { return answer_one(one); });
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    const pid_t tgid = welcome(fd.get());
    waiting_.push_back({std::move(fd), tgid});
    if (waiting_.size() > kMostWaiting) drop_one();
  }
}

}  // namespace fkt::record
