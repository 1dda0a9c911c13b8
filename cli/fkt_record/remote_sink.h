// SPDX-License-Identifier: GPL-2.0-only
// Lent pages on their way to fkt_receive: each stays lent until the other end has written it.
#pragma once

#include <atomic>
#include <deque>
#include <memory>

#include "cli/fkt_record/page_sink.h"
#include "cli/fkt_record/remote_link.h"
#include "cli/fkt_record/request.h"

namespace fkt::record {

class RemoteSink : public PageSink {
 public:
  // Connects to the receiver that the request names, and proves the token: of --token-file or
  // FKT_TOKEN. give_up: readable when whoever waits has had enough; stays the caller's.
  static Result<std::unique_ptr<RemoteSink>> connect(const Request& request,
                                                     std::uint64_t recording,
                                                     std::uint32_t page_bytes, int give_up);
  struct Rules {
    std::uint32_t page_bytes = 0;
    std::uint64_t limit = 0;  // bytes of pages, after which the recording ends; 0: none
    int give_up = -1;         // as connect()'s
  };
  RemoteSink(std::unique_ptr<RemoteLink> link, const Rules& rules)
      : link_(std::move(link)), rules_(rules) {}

  // Returns when the receiver has it: a full disk shows before there is anything to lose.
  Status write_head(const std::string& head) override;
  std::size_t room() const override;
  SinkStatus put(std::span<const LentPage> pages) override;
  void end() override {}
  void wait_for(std::vector<pollfd>& fds) const override { link_->wait_for(fds); }
  SinkStatus move(std::vector<std::uint32_t>& done) override;
  // Returns when the receiver has finished its file. After a SinkEnd an error says how far it came.
  Status write_tail(const Sections& tail) override;
  std::vector<fkt_index_entry> index() const override { return index_; }
  void give_up() override { given_up_ = true; }
  SinkCost cost() const override;

  // Why the recording ended, how much of it can be read at the other end, and how much is gone.
  // status: after every page came back.
  static Error failure(const SinkEnd& end, const fkt_status& status);

  // Can the tail still be written, after that end? A full disk at the other end has room for it.
  bool takes_tail(const SinkEnd& end) const {
    return end.reason == FKT_STOP_LIMIT || link_->full() != 0;
  }

  // There is no recording: the receiver drops what it has of it.
  void discard() { link_->abort(); }

 private:
  struct Waiting {
    std::uint32_t number;
    std::uint64_t end;  // in the file
    fkt_index_entry entry;
  };
  // Pages that may come before the limit.
  std::uint64_t left() const;
  Error given_up() const;
  Status until(const std::function<bool()>& over);

  std::unique_ptr<RemoteLink> link_;
  Rules rules_;
  std::atomic<bool> given_up_{false};
  std::deque<Waiting> waiting_;
  std::uint64_t pages_offset_ = 0;
  std::vector<fkt_index_entry> index_;  // of the pages that are done
};

}  // namespace fkt::record
