// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_receive/server.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>

#include "lib/base/os_error.h"

namespace fkt::receive {
namespace {

using namespace std::chrono_literals;
using Phase = remote::Incoming::Phase;

constexpr auto kProofTime = 10s;              // for a peer to prove that it knows the token
constexpr auto kLinger = 5s;                  // for a sender that missed the last ack to reconnect
constexpr std::size_t kMostPeers = 16;        // beyond it the oldest peer without proof is dropped
constexpr std::size_t kStep = 256 * 1024;     // bytes per read
constexpr std::size_t kMostUnread = 1 << 20;  // most bytes of answers a peer may leave unread
constexpr const char* kHungUp = "it hung up";

}  // namespace

Result<Server::End> Server::run(int stop) {
  buffer_.resize(kStep);
  while (!end_) {
    std::vector<pollfd> fds{{stop, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Peer& peer : peers_) {
      fds.push_back(
          {peer.fd.get(), static_cast<short>(POLLIN | (peer.out.empty() ? 0 : POLLOUT)), 0});
    }
    if (::poll(fds.data(), fds.size(), timeout()) < 0 && errno != EINTR) return os_failure("poll");
    if (fds[0].revents) return End::stopped;
    std::size_t next = 2;
    for (Peer& peer : peers_) serve(peer, fds[next++].revents);
    drop_the_gone();
    if (fds[1].revents) accept();
    if (!end_ && returns_by_ && Clock::now() >= *returns_by_) return done_ ? End::done : End::gone;
  }
  return *end_;
}

void Server::accept() {
  for (;;) {
    remote::Accepted accepted = remote::accept_from(listener_.get());
    if (!accepted.fd) return;
    const Result<remote::Nonce> nonce = remote::random_nonce();
    if (!nonce) return;
    if (peers_.size() >= kMostPeers) {
      const auto stranger =
          std::ranges::find_if(peers_, [this](const Peer& peer) { return &peer != sender_; });
      if (stranger != peers_.end()) peers_.erase(stranger);
    }
    Peer& peer = peers_.emplace_back(Peer{std::move(accepted.fd),
                                          accepted.from.text(),
                                          remote::Incoming(plan_.token, *nonce, plan_.store),
                                          {},
                                          Clock::now() + kProofTime,
                                          {}});
    peer.out = peer.incoming.take_answers();
    send(peer);
  }
}

void Server::serve(Peer& peer, short events) {
  if (end_ || !peer.gone.empty()) return;
  if (events & (POLLIN | POLLHUP | POLLERR)) receive(peer);
  if (peer.gone.empty() && (events & POLLOUT)) send(peer);
  if (peer.gone.empty() && peer.incoming.phase() == Phase::hello &&
      Clock::now() >= peer.proven_by) {
    peer.gone = "it said nothing";
  }
}

void Server::receive(Peer& peer) {
  const ssize_t got = ::recv(peer.fd.get(), buffer_.data(), buffer_.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    peer.gone = got == 0 ? kHungUp : os_error(errno);
    return;
  }
  const bool stays = peer.incoming.take(ByteView(buffer_).first(static_cast<std::size_t>(got)));
  peer.out += peer.incoming.take_answers();
  // Sends the last answer, which says why the peer is dropped. A failure to send it is ignored.
  send(peer);
  follow(peer);
  if (!stays) peer.gone = peer.incoming.fault().empty() ? kHungUp : peer.incoming.fault();
}

void Server::send(Peer& peer) {
  while (!peer.out.empty()) {
    const ssize_t sent = ::send(peer.fd.get(), peer.out.data(), peer.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) peer.gone = os_error(errno);
    if (peer.out.size() > kMostUnread) peer.gone = "it does not listen";
    if (sent < 0) return;
    peer.out.erase(0, static_cast<std::size_t>(sent));
  }
}

// Updates the state of the recording from what the peer has sent.
void Server::follow(Peer& peer) {
  if (peer.incoming.is_open() && &peer != sender_) {
    // A broken connection may still look open for a long time, so the new one replaces it.
    if (sender_) sender_->gone = "it made another connection";
    plan_.say(peer.name +
              (returns_by_ || sender_ ? ": the sender is back" : ": the sender is there"));
    sender_ = &peer;
    returns_by_.reset();
  }
  switch (peer.incoming.phase()) {
    case Phase::done:
      done_ = true;
      break;
    case Phase::bye:
      end_ = End::done;
      break;
    case Phase::aborted:
      end_ = End::aborted;
      break;
    case Phase::failed:
      end_ = End::failed;
      break;
    default:
      break;
  }
}

void Server::drop_the_gone() {
  std::erase_if(peers_, [this](const Peer& peer) {
    if (peer.gone.empty()) return false;
    if (!end_) plan_.say(peer.name + ": " + peer.gone);
    if (&peer == sender_) {
      sender_ = nullptr;
      returns_by_ = Clock::now() + (done_ ? std::chrono::nanoseconds(kLinger) : plan_.wait);
    }
    return true;
  });
}

std::optional<Server::Clock::time_point> Server::next_deadline() const {
  std::optional<Clock::time_point> next = returns_by_;
  for (const Peer& peer : peers_) {
    if (peer.incoming.phase() == Phase::hello && (!next || peer.proven_by < *next))
      next = peer.proven_by;
  }
  return next;
}

int Server::timeout() const {
  const auto next = next_deadline();
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

}  // namespace fkt::receive
