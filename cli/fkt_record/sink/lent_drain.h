// SPDX-License-Identifier: GPL-2.0-only
// The drain of lent pages: a thread that takes complete pages from the module, passes them to a
// sink and gives them back. The other threads of the recorder never wait for it while recording.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "cli/fkt_record/output/part_file.h"
#include "cli/fkt_record/sink/lent_pages.h"
#include "cli/fkt_record/sink/page_sink.h"
#include "lib/base/unique_fd.h"

namespace fkt::record {

class LentDrain {
 public:
  // What happens to pages that do not reach the output. discarded: the module counts them, and all
  // further pages, as discarded. gone: the module counts them as written, and further pages stay in
  // the rings.
  enum class GivenUp { discarded, gone };
  // Starts the thread. Called after FKT_START; the sink must have its head, and `device` and `sink`
  // must outlive the drain.
  static Result<std::unique_ptr<LentDrain>> start(int device, std::uint32_t page_bytes,
                                                  PageSink& sink,
                                                  GivenUp given_up = GivenUp::discarded);
  // Ends the thread, even if pages are not written yet.
  ~LentDrain();
  LentDrain(const LentDrain&) = delete;
  LentDrain& operator=(const LentDrain&) = delete;

  // Readable when the output has ended; the caller has to stop the recording.
  int fd() const { return events_.ended.get(); }
  // Takes the pages that are complete now and no later ones, although the recording continues.
  // Returns when they are taken; join() waits until they are written.
  void take_last();
  // Called after the recording's stop or take_last(). Returns when every page is written or given
  // up; pages are given up when `give_up` becomes readable. Returns errors of the device only.
  Status join(int give_up);

  // Valid after join().
  const SinkStatus& sink_end() const { return sink_end_; }
  std::uint64_t cpu_ns() const { return cpu_ns_; }
  std::uint64_t wakeups() const { return wakeups_; }
  // Per CPU, all pages that were taken, written or not.
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
  // Used by the drain thread only.
  bool over_ = false;
  bool told_ = false;                       // the sink's end() was called
  std::deque<std::uint32_t> waiting_;       // taken from the module, not passed to the sink yet
  std::unordered_set<std::uint32_t> held_;  // passed to the sink, not done yet
  std::vector<std::uint32_t> numbers_;
  std::vector<LentPage> views_;
  // Written by the drain thread, read after it has ended.
  PartCpus taken_;
  SinkStatus sink_end_;
  Status status_ = Done{};
  std::uint64_t cpu_ns_ = 0, wakeups_ = 0;
  std::thread thread_;
};

}  // namespace fkt::record
