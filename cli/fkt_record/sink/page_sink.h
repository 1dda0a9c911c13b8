// SPDX-License-Identifier: GPL-2.0-only
// Interface of a destination for lent pages: a file, rotated files, or a connection.
//
//   Call write_head(), then put() and move() repeatedly, then end(), then move() until every
//   page is done, then write_tail().
//
// The drain thread calls put(), end(), wait_for() and move(); the session's thread calls
// write_head() and write_tail() while the drain thread is not running. A page passed to put()
// belongs to the sink, which only reads it, until move() reports it as done or a call returns a
// SinkEnd.
#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fkt/file.h>
#include <fkt/ioctl.h>

#include "cli/fkt_record/sink/lent_pages.h"
#include "lib/base/result.h"
#include "lib/format/file_writer.h"

namespace fkt::record {

// Returned when the output takes no more pages: the recording ends there. The sink no longer reads
// any page; pages not reported as done did not reach the output.
struct SinkEnd {
  fkt_stop_reason reason = FKT_STOP_ERROR;  // or FKT_STOP_FULL, FKT_STOP_LIMIT
  int error = 0;                            // errno
  std::string message;  // replaces the text of errno; empty: the text of errno is used
};
using SinkStatus = std::optional<SinkEnd>;  // nothing: no error

struct SinkCost {
  std::uint64_t bytes = 0;   // bytes of completed pages in the output
  std::uint64_t copied = 0;  // bytes that a CPU copied or read to write them
  std::uint64_t cpu_ns = 0;  // of the sink's own threads
};

class PageSink {
 public:
  virtual ~PageSink() = default;

  // Writes the sections before the pages.
  virtual Status write_head(const std::string& head) = 0;
  // Number of pages the sink accepts now. Other pages stay in the rings, which are larger than any
  // queue here.
  virtual std::size_t room() const = 0;
  // Takes over at most room() pages, to be written in this order. Must not block for long.
  virtual SinkStatus put(std::span<const LentPage> pages) = 0;
  // Called after the last put(): pages that wait for more to be written together are written now.
  virtual void end() = 0;
  // Appends the descriptors that the next move() waits for (timers as timerfds).
  virtual void wait_for(std::vector<pollfd>& fds) const = 0;
  // Makes progress without blocking. Appends the numbers of the pages that are in the output, in
  // order, up to the first that is not.
  virtual SinkStatus move(std::vector<std::uint32_t>& done) = 0;
  // Writes the sections after the pages that are done.
  virtual Status write_tail(const Sections& tail) = 0;
  // Index entries of the completed pages, and their groups; empty: the output gets no such table.
  virtual std::vector<fkt_index_entry> index() const { return {}; }
  virtual std::vector<fkt_group_entry> groups() const { return {}; }
  // Gives up waiting: the next move() returns a SinkEnd. May be called from any thread.
  virtual void give_up() {}
  // What writing cost, without the CPU time of the drain thread.
  virtual SinkCost cost() const { return {}; }
};

}  // namespace fkt::record
