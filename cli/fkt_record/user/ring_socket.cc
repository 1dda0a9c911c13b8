// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/ring_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "cli/fkt_record/user/user_tasks.h"
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

// Returns a socket that listens, or one that does not if its name cannot be had.
UniqueFd listen_at(const sockaddr_un& at, std::size_t path_bytes) {
  UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_bytes);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at), bytes) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    listener.reset();
  }
  return listener;
}

}  // namespace

Result<RingSocket> RingSocket::open(uid_t user, Answers answers) {
  const auto token = FKT_TRY(random_token());
  // Not in $TMPDIR, which may be a folder that programs of other users do not reach.
  const std::string name = "/tmp/fkt-user-" + token;
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path + 1, name.data(), name.size());
  std::vector<UniqueFd> listeners;
  listeners.push_back(listen_at(at, 1 + name.size()));
  if (!listeners.back()) return os_failure("the socket for user programs");
  at = {};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path, name.data(), name.size());
  UniqueFd of_path = listen_at(at, name.size());
  // Programs in other network namespaces need the path. Everybody may connect to it, because the
  // credentials of each connection are checked.
  const bool has_path = of_path && ::chmod(name.c_str(), 0666) == 0;
  if (has_path) listeners.push_back(std::move(of_path));
  return RingSocket(name, std::move(listeners), has_path, user, std::move(answers));
}

RingSocket::~RingSocket() {
  // The name of an object that was moved is empty.
  if (has_path_ && !name_.empty()) ::unlink(name_.c_str());
}

void RingSocket::add_to(std::vector<pollfd>& fds) const {
  for (const UniqueFd& listener : listeners_) fds.push_back({listener.get(), POLLIN, 0});
  for (const Waiting& one : waiting_) fds.push_back({one.fd.get(), POLLIN, 0});
}

RingSocket::Asker RingSocket::welcome(int connection) const {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.pid <= 0) {
    return {};
  }
  const bool trusted = peer.uid == ::geteuid();
  if (trusted || peer.uid == user_) return {peer.pid, trusted};
  return {descends(peer.pid, peer.uid) ? peer.pid : 0, false};
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
                    ask.magic == FKT_USER_MAGIC && ask.version == FKT_USER_VERSION &&
                    one.asker.tgid != 0;
  const std::size_t text_bytes = good ? static_cast<std::size_t>(got) - FKT_USER_ASK_BYTES : 0;
  const bool of_functions = ask.request == FKT_USER_ATTACH_FUNC;
  if (good && (ask.request == FKT_USER_ATTACH || of_functions)) {
    if (Result<UniqueFd> made = answers_.attach(one.asker.tgid, {ask.tid, of_functions})) {
      ring = std::move(*made);
      answer.good = 1;
    }
  } else if (good && ask.request == FKT_USER_DEFINE) {
    if (const auto made = answers_.define({ask.text, text_bytes})) answer = *made;
  } else if (good && ask.request == FKT_USER_FUNC && text_bytes == sizeof(fkt_user_func)) {
    fkt_user_func function{};
    std::memcpy(&function, ask.text, sizeof function);
    if (const auto made = answers_.number(one.asker, function)) answer = *made;
  }
  if (!answer.good && got > 0) ++(one.asker.tgid != 0 ? refused_ : strangers_);
  if (!reply(connection, answer, ring.get()) && answer.good) late_++;
  return true;
}

void RingSocket::drop_one() {
  std::map<pid_t, std::size_t> counts;
  for (const Waiting& one : waiting_) counts[one.asker.tgid]++;
  const pid_t most =
      std::ranges::max_element(counts, {}, [](const auto& of) { return of.second; })->first;
  waiting_.erase(std::ranges::find_if(
      waiting_, [most](const Waiting& one) { return one.asker.tgid == most; }));
  ++(most != 0 ? refused_ : strangers_);
}

UniqueFd RingSocket::accept() const {
  for (const UniqueFd& listener : listeners_) {
    UniqueFd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) return fd;
  }
  return {};
}

void RingSocket::answer() {
  for (;;) {
    std::erase_if(waiting_, [this](const Waiting& one) { return answer_one(one); });
    UniqueFd fd = accept();
    if (!fd) return;
    const Asker asker = welcome(fd.get());
    waiting_.push_back({std::move(fd), asker});
    if (waiting_.size() > kMostWaiting) drop_one();
  }
}

}  // namespace fkt::record
