// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/remote/remote_sink.h"

#include <errno.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "lib/base/os_error.h"
#include "lib/record/preallocation.h"

namespace fkt::record {
namespace {

// Most bytes sent and not acknowledged: enough for a fast line over a long distance. Other pages
// wait in the rings.
constexpr std::uint64_t kMostOut = 8 << 20;  // bytes

fkt_index_entry entry_of(ByteView page) {
  fkt_page_header header{};
  std::memcpy(&header, page.data(), sizeof header);
  return {header.first_clock, header.end_clock, header.seq, header.cpu, header.events};
}

Result<remote::Token> choose_token(const ReceiverPlan& plan) {
  if (!plan.token_file.empty()) return remote::Token::read(plan.token_file);
  if (const char* text = std::getenv(remote::kTokenVariable)) {
    return remote::Token::of(text, remote::kTokenVariable);
  }
  return Error{ErrorCode::usage, plan.name + ": fkt_receive's token is needed, in FKT_TOKEN or " +
                                     "in a file (--token-file)"};
}

}  // namespace

Result<std::unique_ptr<RemoteSink>> RemoteSink::connect(const ReceiverPlan& plan, int give_up) {
  auto token = FKT_TRY(choose_token(plan));
  auto endpoints = FKT_TRY(remote::resolve(plan.address));
  auto link = FKT_TRY(RemoteLink::connect({plan.name, std::move(endpoints), std::move(token),
                                           plan.recording, plan.page_bytes, plan.wait,
                                           [](std::string_view line) { cli::warn(line); }}));
  return std::make_unique<RemoteSink>(std::move(link), Rules{plan.page_bytes, plan.limit, give_up});
}

Status RemoteSink::until(const std::function<bool()>& over) {
  const auto moved = FKT_TRY(link_->move_until(over, rules_.give_up));
  if (moved) return Done{};
  return given_up();
}

Error RemoteSink::given_up() const {
  return {ErrorCode::io, link_->name() + ": given up before the receiver had it all"};
}

Status RemoteSink::write_head(const std::string& head) {
  link_->add(head);
  pages_offset_ = link_->added();
  return until([this] { return link_->acknowledged() == pages_offset_; });
}

std::uint64_t RemoteSink::left() const {
  if (rules_.limit == 0) return ~std::uint64_t{0};
  const std::uint64_t had = link_->added() - pages_offset_;
  return had < rules_.limit ? (rules_.limit - had) / rules_.page_bytes : 0;
}

std::size_t RemoteSink::room() const {
  const std::uint64_t out = link_->added() - link_->acknowledged();
  if (!link_->is_open() || link_->full() != 0 || out >= kMostOut) return 0;
  return std::min((kMostOut - out) / rules_.page_bytes, left());
}

SinkStatus RemoteSink::put(std::span<const LentPage> pages) {
  for (const LentPage& page : pages) {
    link_->add_lent(page.bytes);
    waiting_.push_back({page.number, link_->added(), entry_of(page.bytes)});
  }
  return std::nullopt;
}

SinkStatus RemoteSink::move(std::vector<std::uint32_t>& done) {
  std::optional<RemoteLink::Failure> failure = link_->move();
  if (!failure && given_up_) failure = {ECANCELED, given_up().message};
  while (!waiting_.empty() && waiting_.front().end <= link_->acknowledged()) {
    done.push_back(waiting_.front().number);
    index_.push_back(waiting_.front().entry);
    waiting_.pop_front();
  }
  // full() is set only if the receiver has the head and whole pages, so that a tail can follow.
  // Elsewhere a full disk is a failure.
  if (!failure && link_->full() != 0) {
    return SinkEnd{FKT_STOP_FULL, link_->full(),
                   "the receiver cannot write its file: " + os_error(link_->full())};
  }
  if (!failure && left() == 0 && waiting_.empty()) return SinkEnd{FKT_STOP_LIMIT, 0, {}};
  if (!failure) return std::nullopt;
  return SinkEnd{is_full(failure->error) ? FKT_STOP_FULL : FKT_STOP_ERROR, failure->error,
                 failure->message};
}

Error RemoteSink::failure(const SinkEnd& end, const fkt_status& status) {
  return {ErrorCode::io,
          end.message + "; " + cli::with_commas(status.pages_written) + " pages with " +
              cli::with_commas(status.events - status.discarded) + " events arrived, " +
              cli::with_commas(status.discarded + status.lost) + " events did not arrive"};
}

SinkCost RemoteSink::cost() const {
  // send(2) copies the bytes into the kernel.
  const std::uint64_t bytes = index_.size() * rules_.page_bytes;
  return {bytes, bytes, 0};
}

Status RemoteSink::write_tail(const Sections& tail) {
  const std::uint64_t tail_offset = link_->added();
  link_->add(tail.bytes());
  link_->end(tail_offset);
  const Status finished = until([this] { return link_->is_done(); });
  if (finished) link_->bye();
  return finished;
}

}  // namespace fkt::record
