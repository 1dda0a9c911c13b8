// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/remote/remote_link.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

#include "cli/base/units.h"
#include "lib/base/os_error.h"
#include "lib/remote/message.h"

namespace fkt::record {
namespace {

using namespace std::chrono_literals;
using remote::append_message;

constexpr auto kAnswerTime = 10s;  // limit for a connection attempt, and for the answer to it
constexpr std::chrono::nanoseconds kFirstPause = 100ms;  // before the first reconnection
constexpr std::chrono::nanoseconds kLongestPause = 5s;
constexpr std::size_t kAckBytes = 4096;  // bytes per read; acks are small

std::string seconds_text(std::chrono::nanoseconds time) {
  return fmt::format("{} s", std::chrono::ceil<std::chrono::seconds>(time).count());
}

}  // namespace

Result<std::unique_ptr<RemoteLink>> RemoteLink::connect(Plan plan) {
  FKT_TRY(remote::random_nonce());
  auto timer = FKT_TRY(Timer::make(0, 0));
  std::unique_ptr<RemoteLink> link(new RemoteLink(std::move(plan)));
  link->timer_ = std::move(timer);
  link->progress_ = Clock::now();
  FKT_TRY(link->move_until([&link] { return link->is_open(); }, -1));
  link->first_ = false;
  return link;
}

void RemoteLink::owe() {
  if (!out_.owes() && is_open()) progress_ = Clock::now();
}

void RemoteLink::add(std::string bytes) {
  owe();
  out_.add(std::move(bytes));
}

void RemoteLink::add_lent(ByteView bytes) {
  owe();
  out_.add_lent(bytes);
}

void RemoteLink::end(std::uint64_t tail_offset) {
  owe();
  out_.end(tail_offset);
}

void RemoteLink::wait_for(std::vector<pollfd>& fds) const {
  if (failure_) return;
  fds.push_back({timer_.fd(), POLLIN, 0});
  if (!fd_) return;
  const bool writes = phase_ == Phase::connecting || (is_open() && out_.has_frames());
  fds.push_back({fd_.get(), static_cast<short>(POLLIN | (writes ? POLLOUT : 0)), 0});
}

std::optional<RemoteLink::Failure> RemoteLink::move() {
  if (failure_) return failure_;
  timer_.clear();
  step();
  if (!failure_) look_at_clock();
  if (!failure_) set_timer();
  return failure_;
}

Result<bool> RemoteLink::move_until(const std::function<bool()>& over, int give_up) {
  for (;;) {
    if (const auto failure = move()) return Error{ErrorCode::io, failure->message};
    if (over()) return true;
    std::vector<pollfd> fds{{give_up, POLLIN, 0}};
    wait_for(fds);
    ::poll(fds.data(), fds.size(), -1);
    if (fds[0].revents) return false;
  }
}

void RemoteLink::step() {
  if (phase_ == Phase::waiting && Clock::now() >= retry_at_) try_connection();
  if (phase_ == Phase::connecting && !is_connected()) return;
  if (fd_) receive();
  if (fd_ && is_open()) send();
}

void RemoteLink::try_connection() {
  const remote::Endpoint& endpoint = plan_.endpoints[next_endpoint_++ % plan_.endpoints.size()];
  answered_by_ = Clock::now() + kAnswerTime;
  Result<UniqueFd> fd = remote::start_connecting(endpoint);
  if (!fd) return broken(fd.error().message);
  fd_ = std::move(*fd);
  phase_ = Phase::connecting;
}

bool RemoteLink::is_connected() {
  pollfd one{fd_.get(), POLLOUT, 0};
  if (::poll(&one, 1, 0) <= 0) return false;
  if (const int error = remote::connection_error(fd_.get())) {
    broken(os_error(error));
    return false;
  }
  phase_ = Phase::greeting;
  return true;
}

void RemoteLink::receive() {
  std::array<std::byte, kAckBytes> buffer;
  while (fd_ && !failure_) {
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return broken(got == 0 ? "the receiver hung up" : os_error(errno));
    in_.insert(in_.end(), buffer.begin(), buffer.begin() + got);
    std::size_t taken = 0;
    while (fd_ && !failure_) {
      const std::size_t size = take_message(ByteView(in_).subspan(taken));
      if (size == 0) break;
      taken += size;
    }
    // broken() may have cleared in_ meanwhile.
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(std::min(taken, in_.size())));
  }
}

std::size_t RemoteLink::take_message(ByteView rest) {
  switch (phase_) {
    case Phase::greeting:
      return take_challenge(rest);
    case Phase::answer:
      return take_answer(rest);
    default:
      return take_ack(rest);
  }
}

std::size_t RemoteLink::take_challenge(ByteView rest) {
  remote::MessageBegin begin{};
  if (!read_at(rest, 0, begin)) return 0;
  if (begin.magic != FKT_REMOTE_MAGIC) return refuse("it is no fkt_receive");
  fkt_remote_challenge challenge{};
  const bool same = begin.version == FKT_REMOTE_VERSION;
  if (same && !read_at(rest, 0, challenge)) return 0;
  const Result<remote::Nonce> nonce = remote::random_nonce();
  if (!nonce) return refuse(nonce.error().message);
  std::ranges::copy(challenge.nonce, challenge_.begin());
  hello_ = {FKT_REMOTE_MAGIC, FKT_REMOTE_VERSION, plan_.recording, plan_.page_bytes, 0, {}, {}};
  std::ranges::copy(*nonce, hello_.nonce);
  remote::prove(plan_.token, challenge_, hello_);
  std::string text;
  append_message(text, hello_);
  // Sent to a receiver with another version too, so that both ends report the mismatch.
  if (!send_text(text)) return 0;
  if (!same) return refuse(remote::other_version(begin.version));
  phase_ = Phase::answer;
  return sizeof challenge;
}

std::size_t RemoteLink::take_answer(ByteView rest) {
  fkt_remote_answer answer{};
  if (!read_at(rest, 0, answer)) return 0;
  if (answer.magic == FKT_REMOTE_MAGIC && answer.status == FKT_REMOTE_DENIED) {
    return refuse("the receiver has another token (FKT_TOKEN or --token-file names its)");
  }
  if (answer.magic != FKT_REMOTE_MAGIC ||
      !remote::proven(plan_.token, challenge_, hello_, answer)) {
    return refuse("what answers there does not know the token");
  }
  if (refused(answer.status, answer.error)) return 0;
  go_on_at(answer.offset);
  if (failure_) return 0;
  if (answer.status == FKT_REMOTE_FULL && full_ == 0) cut_at(answer.offset, answer.error);
  // The receiver has finished the file, and its last ack was lost.
  done_ = answer.status == FKT_REMOTE_DONE;
  if (done_ && answer.offset != added()) return refuse("the receiver is done before the sender");
  return sizeof answer;
}

void RemoteLink::go_on_at(std::uint64_t offset) {
  if (offset < acknowledged()) {
    return fail(0, "of the " + cli::bytes_text(acknowledged()) + " that the receiver had it kept " +
                       cli::bytes_text(offset) + ", and the rest is gone here too");
  }
  if (offset > added()) return fail(0, "the receiver has more than was sent");
  if (!first_) plan_.say(plan_.name + ": connected again");
  phase_ = Phase::open;
  pause_ = {};
  progress_ = Clock::now();
  out_.begin_at(offset);
}

void RemoteLink::cut_at(std::uint64_t offset, int error) {
  full_ = error != 0 ? error : ENOSPC;
  out_.cut(offset);
  progress_ = Clock::now();
}

std::size_t RemoteLink::take_ack(ByteView rest) {
  fkt_remote_ack ack{};
  if (!read_at(rest, 0, ack)) return 0;
  if (ack.magic != FKT_REMOTE_MAGIC) return refuse("no answer where one should begin");
  if (ack.offset > acknowledged()) progress_ = Clock::now();
  const bool sent = out_.acknowledge(ack.offset);
  if (!sent || (ack.status == FKT_REMOTE_DONE && !out_.acknowledge_end())) {
    return refuse("the receiver acknowledges what was not sent");
  }
  if (refused(ack.status, ack.error)) return 0;
  if (ack.status == FKT_REMOTE_FULL) {
    if (full_ != 0) return refuse("the receiver's disk is full twice");
    cut_at(ack.offset, ack.error);
    // The receiver closes this connection; the end of the file is sent on a new one.
    fd_.reset();
    in_.clear();
    phase_ = Phase::waiting;
    retry_at_ = Clock::now();
    return 0;
  }
  done_ = done_ || ack.status == FKT_REMOTE_DONE;
  return sizeof ack;
}

// Returns true if the receiver wants no more data.
bool RemoteLink::refused(std::uint32_t status, int error) {
  switch (status) {
    case FKT_REMOTE_GOING:
    case FKT_REMOTE_DONE:
    case FKT_REMOTE_FULL:
      return false;
    case FKT_REMOTE_BUSY:
      fail(EBUSY, "the receiver has another recording");
      return true;
    case FKT_REMOTE_FAILED:
      fail(error, "the receiver cannot write its file: " + os_error(error));
      return true;
    default:
      fail(0, fmt::format("an answer of status {}", status));
      return true;
  }
}

void RemoteLink::send() {
  if (const int error = out_.send(fd_.get())) broken(os_error(error));
}

// Sends a few bytes. An empty socket buffer always has space for them.
bool RemoteLink::send_text(std::string_view text) {
  const ssize_t done = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  if (done == static_cast<ssize_t>(text.size())) return true;
  broken(done < 0 ? os_error(errno) : "the socket takes nothing");
  return false;
}

void RemoteLink::abort() {
  send_last(FKT_REMOTE_ABORT);
}

void RemoteLink::bye() {
  send_last(FKT_REMOTE_BYE);
}

void RemoteLink::send_last(fkt_remote_frame_type type) {
  std::uint64_t offset = 0;
  // Not in the middle of a frame: then closing the connection tells the receiver.
  if (!fd_ || !is_open() || !out_.between_frames(offset)) return;
  std::string text;
  append_message(text, remote::make_frame(type, offset, {}));
  send_text(text);
  ::shutdown(fd_.get(), SHUT_WR);
  failure_ = Failure{0, plan_.name + ": it is over"};
}

void RemoteLink::fail(int error, const std::string& why) {
  failure_ = Failure{error, plan_.name + ": " + why};
  fd_.reset();
  out_.clear();
}

std::size_t RemoteLink::refuse(const std::string& why) {
  fail(0, why);
  return 0;
}

void RemoteLink::broken(const std::string& why) {
  const bool was_open = is_open();
  broken_by_ = why;
  fd_.reset();
  in_.clear();
  phase_ = Phase::waiting;
  retry_at_ = Clock::now() + pause_;
  pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  if (first_ && next_endpoint_ >= plan_.endpoints.size()) {
    return fail(0, why + " (fkt_receive must listen there first)");
  }
  if (!was_open) return;
  if (!out_.owes()) progress_ = Clock::now();
  plan_.say(plan_.name + ": " + why + "; trying again for " + seconds_text(plan_.wait));
}

void RemoteLink::look_at_clock() {
  const auto now = Clock::now();
  const bool asks = phase_ != Phase::waiting && !is_open();
  if (asks && now >= answered_by_) broken("no answer");
  if (failure_ || first_ || (is_open() && !out_.owes()) || now < progress_ + plan_.wait) return;
  fail(ETIMEDOUT, is_open()
                      ? "no answer for " + seconds_text(plan_.wait)
                      : "not reached for " + seconds_text(plan_.wait) + " (" + broken_by_ + ')');
}

std::optional<RemoteLink::Clock::time_point> RemoteLink::next_deadline() const {
  std::optional<Clock::time_point> next;
  if (phase_ == Phase::waiting)
    next = retry_at_;
  else if (!is_open())
    next = answered_by_;
  if (first_ || (is_open() && !out_.owes())) return next;
  const auto last = progress_ + plan_.wait;
  return next ? std::min(*next, last) : last;
}

void RemoteLink::set_timer() {
  timer_.set_at(next_deadline());
}

}  // namespace fkt::record
