// SPDX-License-Identifier: GPL-2.0-only
// Sends lent pages to fkt_receive. Each page stays lent until the receiver has written it.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>

#include "cli/fkt_record/remote/remote_link.h"
#include "cli/fkt_record/sink/page_sink.h"
#include "lib/remote/address.h"

namespace fkt::record {

struct ReceiverPlan {
  std::string name;  // tcp://..., for messages
  remote::Address address;
  std::string token_file;           // empty: the token is in FKT_TOKEN
  std::chrono::nanoseconds wait{};  // gives up after this time without an answer
  std::uint64_t recording = 0;      // random id
  std::uint32_t page_bytes = 0;
  std::uint64_t limit = 0;  // bytes of pages at which the recording ends; 0: no limit
};

class RemoteSink : public PageSink {
 public:
  // Connects to the receiver and proves the knowledge of the token. give_up: a descriptor, readable
  // when the user no longer wants to wait; owned by the caller.
  static Result<std::unique_ptr<RemoteSink>> connect(const ReceiverPlan& plan, int give_up);
  struct Rules {
    std::uint32_t page_bytes = 0;
    std::uint64_t limit = 0;  // bytes of pages at which the recording ends; 0: no limit
    int give_up = -1;         // as in connect()
  };
  RemoteSink(std::unique_ptr<RemoteLink> link, const Rules& rules)
      : link_(std::move(link)), rules_(rules) {}

  // Returns when the receiver has written the head, so that a full disk is found before the start.
  Status write_head(const std::string& head) override;
  std::size_t room() const override;
  SinkStatus put(std::span<const LentPage> pages) override;
  void end() override {}
  void wait_for(std::vector<pollfd>& fds) const override { link_->wait_for(fds); }
  SinkStatus move(std::vector<std::uint32_t>& done) override;
  // Returns when the receiver has finished its file. After a SinkEnd, returns an error that says
  // how much arrived.
  Status write_tail(const Sections& tail) override;
  std::vector<fkt_index_entry> index() const override { return index_; }
  void give_up() override { given_up_ = true; }
  SinkCost cost() const override;

  // Makes the error that says why the recording ended, how much of it the receiver has and how much
  // is lost. status: read after all pages were given back.
  static Error failure(const SinkEnd& end, const fkt_status& status);

  // Returns true if the tail can still be written after this end: a receiver with a full disk has
  // reserved space for it.
  bool takes_tail(const SinkEnd& end) const {
    return end.reason == FKT_STOP_LIMIT || link_->full() != 0;
  }

  // Tells the receiver to drop the recording.
  void discard() { link_->abort(); }

 private:
  struct Waiting {
    std::uint32_t number;
    std::uint64_t end;  // offset in the file behind the page
    fkt_index_entry entry;
  };
  // Number of pages that fit within the limit.
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
