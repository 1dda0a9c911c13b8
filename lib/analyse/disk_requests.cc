// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/disk_requests.h"

#include <algorithm>
#include <array>

namespace fkt {
namespace {

constexpr std::uint64_t kSectorBytes = 512;
constexpr std::uint64_t kOperation = 0xff, kFlush = 2;  // REQ_OP_MASK, REQ_OP_FLUSH
constexpr std::uint64_t kFlushes = 1 << 17 | 1 << 18;   // REQ_FUA, REQ_PREFLUSH

}  // namespace

std::uint64_t field_value(const EventType& type, const Event& event, std::string_view name) {
  const Field* const field = type.field(event, name);
  return field == nullptr ? 0 : EventType::value(*field, event).value_or(0);
}

const DiskRequests::Step* DiskRequests::step_of(std::string_view tracepoint) {
  static constexpr std::array<std::pair<std::string_view, Step>, 4> kSteps{
      {{"block_bio_queue", Step::queue},
       {"block_rq_issue", Step::issue},
       {"block_rq_requeue", Step::requeue},
       {"block_rq_complete", Step::complete}}};
  const auto* const found =
      std::ranges::find(kSteps, tracepoint, &std::pair<std::string_view, Step>::first);
  return found == kSteps.end() ? nullptr : &found->second;
}

void DiskRequests::lose() {
  open_.clear();
  left_.clear();
  askers_.clear();
  flushers_.clear();
}

const DiskRequest* DiskRequests::add(const Event& event, const EventType& type, Step step,
                                     TaskIndex task, const Selects& selects) {
  switch (step) {
    case Step::queue:
      queue(event, type, task, selects);
      break;
    case Step::issue:
      issue(event, type, task, selects);
      break;
    case Step::requeue:
      open_.erase(field_value(type, event, "rq"));
      break;
    case Step::complete:
      return complete(event, type, selects);
  }
  return nullptr;
}

void DiskRequests::queue(const Event& event, const EventType& type, TaskIndex task,
                         const Selects& selects) {
  const std::uint64_t device = field_value(type, event, "dev");
  const Asker asker{task, field_value(type, event, "part"), field_value(type, event, "ino"),
                    event.clock, selects(task)};
  const bool flushes = (field_value(type, event, "flags") & kFlushes) != 0;
  if (flushes) flushers_.insert_or_assign(device, asker);
  if (flushes && field_value(type, event, "bytes") == 0) return;
  askers_.insert_or_assign(std::pair(device, field_value(type, event, "sector")), asker);
}

// A request consists of the bios of one or more tasks. Returns the task whose bio has the lowest of
// these sectors, if any is known, and forgets all bios in them. A request that does not read or
// write sectors, such as a SCSI command of a program, has the sector 2^64 - 1.
DiskRequests::Asker DiskRequests::take_asker(std::uint64_t device, std::uint64_t sector,
                                             std::uint64_t bytes) {
  const auto first = askers_.lower_bound(std::pair(device, sector));
  const auto behind = askers_.lower_bound(
      std::pair(device, sector + std::min(bytes / kSectorBytes, ~std::uint64_t{0} - sector)));
  if (first == askers_.end() || first == behind) return {};
  Asker asker = first->second;
  for (auto at = first; at != behind; ++at)
    asker.queued = std::min(asker.queued, at->second.queued);
  askers_.erase(first, behind);
  return asker;
}

void DiskRequests::issue(const Event& event, const EventType& type, TaskIndex task,
                         const Selects& selects) {
  DiskRequest request;
  request.device = field_value(type, event, "dev");
  request.sector = field_value(type, event, "sector");
  request.flags = field_value(type, event, "flags");
  request.bytes = field_value(type, event, "bytes");
  request.issued = event.clock;
  Asker asker = take_asker(request.device, request.sector, request.bytes);
  // A bio may want the cache flushed before it and after it; the kernel makes one request for all
  // bios that want it by then.
  const auto flusher = flushers_.find(request.device);
  if ((request.flags & kOperation) == kFlush && flusher != flushers_.end()) {
    asker = flusher->second;
  }
  request.task = asker.task == kNoTask ? task : asker.task;
  request.queued = asker.queued;
  request.selected = asker.selected || selects(request.task);
  request.file_device = asker.file != 0 ? asker.file_device : request.device;
  request.file = asker.file != 0 ? asker.file : field_value(type, event, "ino");
  const std::uint64_t key = field_value(type, event, "rq");
  left_.insert_or_assign(key, request.bytes);
  open_.insert_or_assign(key, request);
}

const DiskRequest* DiskRequests::complete(const Event& event, const EventType& type,
                                          const Selects& selects) {
  const auto found = open_.find(field_value(type, event, "rq"));
  if (found == open_.end()) return nullptr;
  std::uint64_t& left = left_[found->first];
  left -= std::min(left, field_value(type, event, "bytes"));
  found->second.failed = field_value(type, event, "error") != 0;
  if (left > 0 && !found->second.failed) return nullptr;
  done_ = found->second;
  done_.bytes -= left;
  done_.completed = event.clock;
  done_.selected = done_.selected || selects(done_.task);
  left_.erase(found->first);
  open_.erase(found);
  return &done_;
}

}  // namespace fkt
