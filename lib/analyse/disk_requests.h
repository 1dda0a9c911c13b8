// SPDX-License-Identifier: GPL-2.0-only
// DiskRequests: requests to disks, each from the bio that asked for it to its completion, from the
// events of the layer block. The requests of fkt_print --disks and of fkt_print --why are these.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lib/analyse/tasks.h"
#include "lib/format/catalogue.h"

namespace fkt {

// Returns the value of the event's field with this name; 0: it has none.
std::uint64_t field_value(const EventType& type, const Event& event, std::string_view name);

struct DiskRequest {
  std::uint64_t device = 0;       // dev_t of the kernel
  std::uint64_t file_device = 0;  // of the file that it is for
  std::uint64_t file = 0;         // its inode; 0: none is known
  std::uint64_t sector = 0;       // of 512 bytes
  std::uint64_t bytes = 0;        // of a completed one: that were done
  std::uint64_t flags = 0;        // operation and flags of the kernel (enum req_op, REQ_...)
  TaskIndex task = kNoTask;       // that asked for it, or else that issued it
  std::uint64_t queued = 0;       // when the first of its bios was handed in (ticks); 0: not seen
  std::uint64_t issued = 0;       // when the device got it (ticks)
  std::uint64_t completed = 0;    // ticks; 0: not yet
  bool failed = false;
  bool selected = false;  // one of its events is what the selection has
};

class DiskRequests {
 public:
  // Returns whether the selection has the event at hand if it is one of that task.
  using Selects = std::function<bool(TaskIndex)>;
  enum class Step : std::uint8_t { queue, issue, requeue, complete };

  // Returns the step that the tracepoint with this name tells; nothing: none.
  static const Step* step_of(std::string_view tracepoint);

  // Adds an event of that step, recorded while `task` ran. Returns the request that it completes,
  // valid until the next event; nullptr: none.
  const DiskRequest* add(const Event& event, const EventType& type, Step step, TaskIndex task,
                         const Selects& selects);
  // Events were lost: they may have been ends.
  void lose();
  // Those that the devices have, by the kernel's address of the request.
  const std::unordered_map<std::uint64_t, DiskRequest>& open() const { return open_; }

 private:
  // A bio until its request is issued.
  struct Asker {
    TaskIndex task = kNoTask;
    std::uint64_t file_device = 0, file = 0;
    std::uint64_t queued = 0;  // ticks
    bool selected = false;
  };

  void queue(const Event& event, const EventType& type, TaskIndex task, const Selects& selects);
  void issue(const Event& event, const EventType& type, TaskIndex task, const Selects& selects);
  const DiskRequest* complete(const Event& event, const EventType& type, const Selects& selects);
  Asker take_asker(std::uint64_t device, std::uint64_t sector, std::uint64_t bytes);

  std::unordered_map<std::uint64_t, DiskRequest> open_;
  std::unordered_map<std::uint64_t, std::uint64_t> left_;  // bytes of each that are not completed
  DiskRequest done_;                                       // the one completed last
  std::map<std::pair<std::uint64_t, std::uint64_t>, Asker> askers_;  // by device and first sector
  std::map<std::uint64_t, Asker> flushers_;                          // the last one of each device
};

}  // namespace fkt
