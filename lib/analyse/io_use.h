// SPDX-License-Identifier: GPL-2.0-only
// Reads and writes per process and file, socket or disk: their number, bytes, errors and durations.
// Made of the events of the layers fs, block, transport and socket.
//
//   IoUse use(analysis, IoUse::Table::files);
//   for (const Event& event : recording.events()) use.add(event, analysis.add(event));
//   for (const IoUse::Row& row : use.rows()) ...
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/disk_requests.h"
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
    peek,  // received, and left there to be received again
  };

  // What is read and written, or sent and received. Members that a table does not need are 0.
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
    std::uint64_t ticks = 0, longest = 0, shortest = ~std::uint64_t{0};
    Histogram durations;

    void add(std::uint64_t duration);
    // As Histogram::percentile(), within the shortest and the longest.
    std::uint64_t percentile(double percent) const {
      return count == 0 ? 0 : std::clamp(durations.percentile(percent), shortest, longest);
    }
  };

  struct Row {
    TaskIndex process = kNoTask;  // its leader if that is known, else the thread
    Object object;
    What what = What::other;
    // These bytes stand in another row, too: an overlay reads its file by reading the file below
    // it. The row of the overlay's file has them without `below`, that of the file below has them
    // here.
    bool below = false;
    Sums sums;
  };

  // analysis: outlives this object.
  IoUse(Analysis& analysis, Table table);

  // Adds one event, and what the selection shows of it. place: what Analysis::add() returned for
  // it. All events of the recording are added, also those that are not shown.
  void add(const Event& event, const Analysis::Found& place);

  // Returns the sums, those with the most bytes first.
  std::vector<Row> rows() const;
  // Returns the path's last parts that the recording knows of the file; empty: none.
  std::string_view file_name(const Object& object) const;
  // Returns whether the recording has instruments of which the table is made.
  bool has_source() const {
    return !calls_.empty() || !entries_.empty() || (table_ == Table::disks && !points_.empty());
  }

  // Return the file or socket that an event of the layers fs, socket and transport tells; number 0:
  // none.
  static Object file_of(const EventType& type, const Event& event);
  static Object socket_of(const EventType& type, const Event& event, std::string_view protocol);
  // Returns the protocol of which a function of the kernel sends or receives; empty: none is known.
  static std::string_view protocol_of(std::string_view function);
  // Returns the operation of a request to a disk, by its flags.
  static What operation(std::uint64_t flags);
  // "read", of a row of what is below another "read below".
  static std::string name(What what, bool below);

 private:
  // What a tracepoint, or the entry of a function, tells: of a request to a disk (disk), of a
  // request of libaio or io_uring (ask, answer), of a socket (state).
  enum class Step : std::uint8_t { disk, ask, answer, state };
  struct Call {
    What what = What::other;
    std::string_view protocol;
  };
  struct Point {
    Step step = Step::disk;
    What what = What::other;                                 // of Step::ask
    DiskRequests::Step of_disk = DiskRequests::Step::queue;  // of Step::disk
  };
  struct KnownPoint;
  struct Request {
    Object object;
    What what = What::other;
    TaskIndex task = kNoTask;  // that asked for it
    std::uint64_t issued = 0;  // ticks
    std::uint64_t bytes = 0;
    bool selected = false;  // one of its events so far is what the selection has
  };
  // Process, object, what, below.
  using Key = std::tuple<TaskIndex, Object, What, bool>;
  // A call or request that has ended.
  struct Done {
    Key key;
    std::uint64_t begin = 0, duration = 0;  // ticks
    std::uint64_t bytes = 0;
    bool failed = false;

    void add_to(std::map<Key, Sums>& all) const;
  };

  void find_sources();
  void lose();
  void add_call(const Event& event, const EventType& type, const Call& call,
                const Analysis::Found& place);
  void add_point(const Event& event, const EventType& type, const Point& point, TaskIndex task);
  void ask(const Event& event, const EventType& type, What what, TaskIndex task);
  void add_disk(const Event& event, const EventType& type, DiskRequests::Step step, TaskIndex task);
  void answer(const Event& event, const EventType& type);
  void add_request(const Event& event, const Request& request, bool failed);
  Object object_of(const EventType& type, const Event& event, std::string_view protocol);
  bool is_selected(const Event& event, TaskIndex task);
  TaskIndex process_of(TaskIndex task) const;

  Analysis& analysis_;
  const RecordingInfo& info_;
  const Table table_;
  std::unordered_map<std::uint64_t, Call> calls_;     // by number of the function
  std::unordered_map<std::uint64_t, Point> points_;   // by number of the tracepoint
  std::unordered_map<std::uint64_t, Point> entries_;  // by number of the function
  // The last calls of each thread; a function that called them may not have ended yet.
  std::unordered_map<TaskIndex, std::deque<Done>> done_;
  std::unordered_map<std::uint64_t, Object> connections_;  // of TCP, by the socket's address
  std::map<Key, Sums> sums_;
  FileNames names_;
  std::unordered_map<std::uint64_t, Request> requests_;  // of libaio and io_uring, in progress
  DiskRequests disk_requests_;
};

}  // namespace fkt
