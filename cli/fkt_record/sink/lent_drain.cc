// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sink/lent_drain.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "lib/base/event_fd.h"
#include "lib/base/os_error.h"

namespace fkt::record {
namespace {

// Pages taken per call after the output has ended.
constexpr std::size_t kPagesGivenUp = 64;
// Pages taken per call by take_rest().
constexpr std::size_t kPagesAtOnce = 256;
constexpr int kLastRounds = 2;
constexpr useconds_t kLastPause = 1000;
// Upper bound of a poll, in case a wakeup is missed.
constexpr int kMaxPollWait = 500;  // ms

}  // namespace

Result<std::unique_ptr<LentDrain>> LentDrain::start(int device, std::uint32_t page_bytes,
                                                    PageSink& sink, GivenUp given_up) {
  auto pages = FKT_TRY(LentPages::map(device, page_bytes));
  Events events{make_event_fd(), make_event_fd(), make_event_fd(), make_event_fd()};
  if (!events.wake || !events.ended || !events.taken || !events.done) return os_failure("eventfd");
  return std::unique_ptr<LentDrain>(
      new LentDrain(device, std::move(pages), sink, given_up, std::move(events)));
}

LentDrain::LentDrain(int device, LentPages pages, PageSink& sink, GivenUp given_up, Events events)
    : device_(device),
      pages_(std::move(pages)),
      sink_(sink),
      unwritten_is_gone_(given_up == GivenUp::gone),
      events_(std::move(events)),
      thread_([this] { run(); }) {}

LentDrain::~LentDrain() {
  if (!thread_.joinable()) return;
  quits_ = true;
  signal_event(events_.wake);
  thread_.join();
}

void LentDrain::take_last() {
  last_ = true;
  signal_event(events_.wake);
  pollfd fds[] = {{events_.taken.get(), POLLIN, 0}, {events_.done.get(), POLLIN, 0}};
  while (::poll(fds, 2, -1) < 0) continue;
}

Status LentDrain::join(int give_up) {
  if (!thread_.joinable()) return status_;
  // Wakes the thread, so that it finds out that the recording is over.
  signal_event(events_.wake);
  pollfd fds[] = {{events_.done.get(), POLLIN, 0}, {give_up, POLLIN, 0}};
  while (!fds[0].revents) {
    if (::poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents) {
      sink_.give_up();
      signal_event(events_.wake);
      fds[1].fd = -1;
    }
  }
  thread_.join();
  return status_;
}

void LentDrain::run() {
  status_ = work();
  if (!status_ || sink_end_) signal_event(events_.ended);
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  cpu_ns_ = static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
            static_cast<std::uint64_t>(used.tv_nsec);
  signal_event(events_.done);
}

Status LentDrain::work() {
  while (!quits_) {
    FKT_TRY(take());
    FKT_TRY(move());
    if (over_ && waiting_.empty() && held_.empty()) return Done{};
    wait();
    wakeups_++;
  }
  return Done{};
}

std::size_t LentDrain::room() const {
  return sink_end_ ? kPagesGivenUp : sink_.room();
}

// Passes complete pages to the sink, or back to the module once the output has ended.
Status LentDrain::take() {
  for (;;) {
    // After a failure a snapshot leaves all further pages in the rings.
    if (sink_end_ && unwritten_is_gone_) over_ = true;
    if (!over_) FKT_TRY(last_ ? take_rest() : take_some(room()));
    const auto some = FKT_TRY(put(room()));
    if (!some) return Done{};
  }
}

Status LentDrain::take_some(std::size_t room) {
  if (room == 0) return Done{};
  numbers_.resize(room);
  const auto taken = FKT_TRY(pages_.take(numbers_));
  numbers_.resize(taken.count);
  waiting_.insert(waiting_.end(), numbers_.begin(), numbers_.end());
  over_ = taken.over;
  return Done{};
}

// Takes all complete pages, whether the sink has room or not. Taking is faster than recording, so
// this ends. Repeated after a pause, because a probe may have been interrupted while it wrote into
// the last page.
Status LentDrain::take_rest() {
  for (int round = 0; round < kLastRounds && !over_; round++) {
    if (round > 0) ::usleep(kLastPause);
    do {
      FKT_TRY(take_some(kPagesAtOnce));
    } while (!over_ && numbers_.size() == kPagesAtOnce);
  }
  over_ = true;
  signal_event(events_.taken);
  return Done{};
}

// Passes some of the waiting pages to the sink. Returns false if none was passed.
Result<bool> LentDrain::put(std::size_t room) {
  const std::size_t some = std::min(room, waiting_.size());
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(some);
  numbers_.assign(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  views_.clear();
  for (const std::uint32_t number : numbers_) {
    views_.push_back(pages_.page(number));
    count(taken_, *reinterpret_cast<const fkt_page_header*>(views_.back().bytes.data()));
  }
  Status back = Done{};
  if (sink_end_) {
    back = pages_.give_back(numbers_, unwritten_is_gone_);
  } else if (some > 0) {
    held_.insert(numbers_.begin(), numbers_.end());
    sink_end_ = sink_.put(views_);
    if (sink_end_) back = give_up_pages();
  }
  if (!back) return back.error();
  if (over_ && waiting_.empty() && !told_ && !sink_end_) {
    told_ = true;
    sink_.end();
  }
  return some > 0;
}

Status LentDrain::move() {
  if (sink_end_) return Done{};
  numbers_.clear();
  sink_end_ = sink_.move(numbers_);
  for (const std::uint32_t number : numbers_) held_.erase(number);
  const Status back = pages_.give_back(numbers_, true);
  if (!back || !sink_end_) return back;
  return give_up_pages();
}

// Called when the output has ended: the pages that the sink still holds did not reach it.
Status LentDrain::give_up_pages() {
  signal_event(events_.ended);
  numbers_.assign(held_.begin(), held_.end());
  held_.clear();
  return pages_.give_back(numbers_, unwritten_is_gone_);
}

void LentDrain::wait() const {
  std::vector<pollfd> fds{{events_.wake.get(), POLLIN, 0}};
  if (!over_ && (sink_end_ || sink_.room() > 0)) fds.push_back({device_, POLLIN, 0});
  if (!sink_end_) sink_.wait_for(fds);
  ::poll(fds.data(), fds.size(), kMaxPollWait);
  std::uint64_t count = 0;
  if (fds[0].revents) (void)!::read(events_.wake.get(), &count, sizeof count);
}

}  // namespace fkt::record
