// SPDX-License-Identifier: GPL-2.0-only
// Where lent pages go: a file, files that rotate, a connection.
//
//   write_head(), then put() and move() again and again, end(), move() until every page that was
//   put is done, write_tail().
//
// put(), end(), wait_for() and move() are called by the drain's thread alone, the other two by the
// session's while that thread does not run. A page that was put is the sink's, to read, until
// move() tells that it is done or a call returns a SinkEnd.
#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fkt/file.h>
#include <fkt/ioctl.h>

#include "cli/fkt_record/lent_pages.h"
#include "lib/file_writer.h"
#include "lib/result.h"

namespace fkt::record {

// The output takes no more: the recording ends there. By then the sink reads none of its pages any
// more; those of which it has not told that they are done did not reach the output.
struct SinkEnd {
  fkt_stop_reason reason = FKT_STOP_ERROR;  // or FKT_STOP_FULL, FKT_STOP_LIMIT
  int error = 0;                            // errno
  std::string message;                      // in place of errno's text; empty: that says it
};
using SinkStatus = std::optional<SinkEnd>;  // nothing: all is well

struct SinkCost {
  std::uint64_t bytes = 0;   // in the output, of pages that are done
  std::uint64_t copied = 0;  // bytes that a CPU copied or read on the way out
  std::uint64_t cpu_ns = 0;  // of threads of its own
};

class PageSink {
 public:
  virtual ~PageSink() = default;

  // What stands before the pages.
  virtual Status write_head(const std::string& head) = 0;
  // How many pages it wants now. The others wait in the rings, where there is most room.
  virtual std::size_t room() const = 0;
  // Takes over at most room() pages. Their order is the output's; it must not block for long.
  virtual SinkStatus put(std::span<const LentPage> pages) = 0;
  // No page will come any more: nothing waits for company.
  virtual void end() = 0;
  // Appends what the next move() waits for (timers as timerfds).
  virtual void wait_for(std::vector<pollfd>& fds) const = 0;
  // Moves on what can be moved, never waiting; appends the numbers of pages that are in the
  // output, up to the first one that is not.
  virtual SinkStatus move(std::vector<std::uint32_t>& done) = 0;
  // Finishes the output: what stands behind the pages that are done.
  virtual Status write_tail(const Sections& tail) = 0;
  // Of the pages that are done, and their groups; empty: the output gets no such table.
  virtual std::vector<fkt_index_entry> index() const { return {}; }
  virtual std::vector<fkt_group_entry> groups() const { return {}; }
  // Nobody wants to wait any more: the next move() returns a SinkEnd. From any thread.
  virtual void give_up() {}
  // What it took, beside the time of the drain's own thread.
  virtual SinkCost cost() const { return {}; }
};

}  // namespace fkt::record
