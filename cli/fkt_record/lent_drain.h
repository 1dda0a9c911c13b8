// SPDX-License-Identifier: GPL-2.0-only
// The drain of lent pages: a thread that takes complete pages, has a sink write them, and gives
// them back. Nothing else of the recorder waits for it, nor it for anything else.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "cli/fkt_record/lent_pages.h"
#include "cli/fkt_record/page_sink.h"
#include "cli/fkt_record/part_file.h"
#include "lib/unique_fd.h"

namespace fkt::record {

class LentDrain {
 public:
  // The recording has started; its head is in the sink. Device and sink outlive the drain.
  // What becomes of pages that do not reach the output: the module counts them as discarded, the
  // further ones too; or it takes them for written, and the further ones stay in the rings.
  enum class GivenUp { discarded, gone };
  static Result<std::unique_ptr<LentDrain>> start(int device, std::uint32_t page_bytes,
                                                  PageSink& sink,
                                                  GivenUp given_up = GivenUp::discarded);
  // Ends it, be the pages written or not.
  ~LentDrain();
  LentDrain(const LentDrain&) = delete;
  LentDrain& operator=(const LentDrain&) = delete;

  // Readable when the output has ended the recording, which is then to be stopped.
  int fd() const { return events_.ended.get(); }
  // Takes what is there, and no more after that, although the recording goes on. Returns as soon as
  // it is taken; join() waits until it is written.
  void take_last();
  // After the recording's stop, or take_last(): until every page is written or given up, the latter
  // when `give_up` becomes readable. An error is the device's.
  Status join(int give_up);

  // After join().
  const SinkStatus& sink_end() const { return sink_end_; }
  std::uint64_t cpu_ns() const { return cpu_ns_; }
  std::uint64_t wakeups() const { return wakeups_; }
  // All pages that it has had, written or not.
  const PartCpus& taken() const { return taken_; }

 private:
  struct Events {
    UniqueFd wake, ended, taken, done;
  };
  LentDrain(int device, LentPages pages, PageSink& sink, GivenUp given_up, Events events);
  void run();
  Status work();
  Status take();
  Status take_some(std::size_t room);
  Status take_rest();
  Result<bool> put(std::size_t room);
  std::size_t room() const;
  Status move();
  Status give_up_pages();
  void wait() const;

  int device_;
  LentPages pages_;
  PageSink& sink_;
  const bool unwritten_is_gone_;
  const Events events_;
  std::atomic<bool> quits_{false}, last_{false};
  // The thread's own.
  bool over_ = false;
  bool told_ = false;                       // ... the sink, that this is all
  std::deque<std::uint32_t> waiting_;       // taken, not put yet
  std::unordered_set<std::uint32_t> held_;  // pages that the sink has
  std::vector<std::uint32_t> numbers_;
  std::vector<LentPage> views_;
  // Read after it has ended.
  PartCpus taken_;
  SinkStatus sink_end_;
  Status status_ = Done{};
  std::uint64_t cpu_ns_ = 0, wakeups_ = 0;
  std::thread thread_;
};

}  // namespace fkt::record
