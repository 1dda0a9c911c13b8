// SPDX-License-Identifier: GPL-2.0-only
// Reads and writes per process and file, socket or disk: their number, bytes, errors and durations.
// Made of the events of the layers fs, block, transport and socket.
//
//   IoUse use(analysis.info(), IoUse::Table::files);
//   for (const Event& event : trace.events()) {
//     const Analysis::Found& place = analysis.add(event);
//     if (place.shown) use.add(event, place, analysis.tasks());
//   }
//   for (const IoUse::Row& row : use.rows()) ...
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/file_names.h"
#include "lib/base/histogram.h"
#include "lib/format/catalogue.h"
#include "lib/format/ip_address.h"

namespace fkt {

class IoUse {
 public:
  enum class Table : std::uint8_t { files, disks, sockets };
  enum class What : std::uint8_t {
    read,
    write,
    open,
    sync,
    fault,       // a page of a mapped file was not there
    read_ahead,  // pages are read before a program asks for them
    write_back,  // dirty pages are written
    flush,       // of a disk's cache
    discard,
    other,
    send,
    receive,
  };

  // What is read and written. Members that a table does not need are 0.
  struct Object {
    std::uint64_t device = 0;       // the file's or the disk's, dev_t of the kernel
    std::uint64_t file_device = 0;  // of a disk: that of the file which a request is for
    std::uint64_t number = 0;       // inode, 0: none is known; the socket's address in the kernel
    std::string_view protocol;      // of a socket, likewise the next
    std::uint16_t own_port = 0;
    std::uint16_t port = 0;
    std::uint32_t address = 0;  // of version 4
    Ip6Address address6{};      // of version 6

    auto operator<=>(const Object&) const = default;
  };

  struct Sums {
    std::uint64_t count = 0, bytes = 0, errors = 0;
    std::uint64_t ticks = 0, longest = 0;
    Histogram durations;

    void add(std::uint64_t duration);
  };

  struct Row {
    TaskIndex process = kNoTask;  // its leader if that is known, else the thread
    Object object;
    What what = What::other;
    Sums sums;
  };

  // info: outlives this object.
  IoUse(const TraceInfo& info, Table table);

  // Adds one event. place: what Analysis::add() returned for it.
  void add(const Event& event, const Analysis::Found& place, const Tasks& tasks);

  // Forgets the requests in progress: lost events may have been their ends. Call it for each event
  // of a gap.
  void lose();

  // Returns the sums, those with the most bytes first.
  std::vector<Row> rows() const;
  // Returns the path's last parts that the recording knows of the file; empty: none.
  std::string_view file_name(const Object& object) const;
  // Returns whether the recording has instruments of which the table is made.
  bool has_source() const { return !calls_.empty() || !points_.empty(); }

  static std::string_view name(What what);

 private:
  // What happens to a request or a bio when its tracepoint is hit.
  enum class Step : std::uint8_t { queue, issue, requeue, complete };
  struct Call {
    What what = What::other;
    std::string_view protocol;
  };
  struct Request {
    Object object;
    What what = What::other;
    TaskIndex process = kNoTask;
    std::uint64_t issued = 0;  // ticks
    std::uint64_t left = 0;    // bytes that are not completed
    std::uint64_t bytes = 0;
  };
  struct Asker {
    TaskIndex process = kNoTask;
    std::uint64_t file_device = 0, file = 0;  // inode
  };
  using Key = std::tuple<TaskIndex, Object, What>;

  void add_call(const Event& event, const EventType& type, const Call& call, std::uint64_t duration,
                TaskIndex process);
  void add_step(const Event& event, const EventType& type, Step step, TaskIndex process);
  void issue(const Event& event, const EventType& type, TaskIndex process);
  void complete(const Event& event, const EventType& type);
  Asker take_asker(std::uint64_t device, std::uint64_t sector, std::uint64_t bytes);

  const TraceInfo& info_;
  const Table table_;
  std::unordered_map<std::uint64_t, Call> calls_;   // by number of the function
  std::unordered_map<std::uint64_t, Step> points_;  // by number of the tracepoint
  std::map<Key, Sums> sums_;
  FileNames names_;
  std::unordered_map<std::uint64_t, Request> requests_;  // that a device has
  // The process that submitted a bio, and its file, until the request is issued; by device and
  // first sector.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Asker> askers_;
};

}  // namespace fkt
