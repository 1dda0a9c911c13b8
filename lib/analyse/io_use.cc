// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/io_use.h"

#include <fkt/events.h>

#include <algorithm>
#include <optional>
#include <tuple>

namespace fkt {
namespace {

using IoTable = IoUse::Table;
using IoWhat = IoUse::What;

struct KnownCall {
  std::string_view function;
  IoTable table;
  IoWhat what;
  std::string_view protocol = {};
};

// The calls that are added up in the tables. No function here calls another one here for the same
// bytes of the same file, so no bytes are counted twice.
constexpr KnownCall kIoCalls[] = {
    {"vfs_read", IoTable::files, IoWhat::read},
    {"vfs_readv", IoTable::files, IoWhat::read},
    {"vfs_iter_read", IoTable::files, IoWhat::read},
    {"__kernel_read", IoTable::files, IoWhat::read},
    {"vfs_splice_read", IoTable::files, IoWhat::read},
    {"do_splice_to", IoTable::files, IoWhat::read},
    {"vfs_write", IoTable::files, IoWhat::write},
    {"vfs_writev", IoTable::files, IoWhat::write},
    {"vfs_iter_write", IoTable::files, IoWhat::write},
    {"__kernel_write_iter", IoTable::files, IoWhat::write},
    {"vfs_open", IoTable::files, IoWhat::open},
    {"vfs_fsync_range", IoTable::files, IoWhat::sync},
    {"filemap_fault", IoTable::files, IoWhat::fault},
    {"page_cache_ra_unbounded", IoTable::files, IoWhat::read_ahead},
    {"page_cache_ra_order", IoTable::files, IoWhat::read_ahead},
    {"do_writepages", IoTable::files, IoWhat::write_back},
    {"tcp_sendmsg", IoTable::sockets, IoWhat::send, "tcp"},
    {"tcp_sendpage", IoTable::sockets, IoWhat::send, "tcp"},
    {"tcp_recvmsg", IoTable::sockets, IoWhat::receive, "tcp"},
    {"udp_sendmsg", IoTable::sockets, IoWhat::send, "udp"},
    {"udpv6_sendmsg", IoTable::sockets, IoWhat::send, "udp6"},
    {"udp_recvmsg", IoTable::sockets, IoWhat::receive, "udp"},
    {"udpv6_recvmsg", IoTable::sockets, IoWhat::receive, "udp6"},
    {"unix_stream_sendmsg", IoTable::sockets, IoWhat::send, "unix"},
    {"unix_stream_recvmsg", IoTable::sockets, IoWhat::receive, "unix"},
    {"unix_dgram_sendmsg", IoTable::sockets, IoWhat::send, "unix"},
    {"unix_dgram_recvmsg", IoTable::sockets, IoWhat::receive, "unix"},
};

constexpr std::string_view kWhatNames[] = {"read",    "write",      "open",       "sync",
                                           "fault",   "read ahead", "write back", "flush",
                                           "discard", "other",      "send",       "receive"};

std::uint64_t value_of(const EventType& type, const Event& event, std::string_view name) {
  const Field* const field = type.field(event, name);
  return field == nullptr ? 0 : EventType::value(*field, event).value_or(0);
}

Ip6Address address6_of(const EventType& type, const Event& event, std::string_view name) {
  Ip6Address address{};
  const Field* const field = type.field(event, name);
  const ByteView bytes = field == nullptr ? ByteView{} : EventType::bytes(*field, event);
  if (bytes.size() == address.size()) std::ranges::copy(bytes, address.begin());
  return address;
}

// Returns the operation of a request, by its flags (enum req_op).
IoWhat what_of(std::uint64_t flags) {
  switch (flags & 0xff) {
    case 0:
      return IoWhat::read;
    case 1:
    case 9:  // zeroes
      return IoWhat::write;
    case 2:
      return IoWhat::flush;
    case 3:
    case 5:  // erase
      return IoWhat::discard;
    default:
      return IoWhat::other;
  }
}

}  // namespace

void IoUse::Sums::add(std::uint64_t duration) {
  count++;
  ticks += duration;
  longest = std::max(longest, duration);
  durations.add(duration);
}

IoUse::IoUse(const TraceInfo& info, Table table) : info_(info), table_(table) {
  constexpr std::pair<std::string_view, Step> kSteps[] = {
      {"block_bio_queue", Step::queue},
      {"block_rq_issue", Step::issue},
      {"block_rq_requeue", Step::requeue},
      {"block_rq_complete", Step::complete},
  };
  for (const EventType& type : info.catalogue.events()) {
    const Field* const key = type.field(FieldUse::key);
    const Catalogue::NameTable* const names = key ? info.catalogue.names(*key) : nullptr;
    if (names == nullptr) continue;
    for (const auto& [number, name] : *names) {
      const auto* const call = std::ranges::find(kIoCalls, name, &KnownCall::function);
      if (key->names == "function" && call != std::end(kIoCalls) && call->table == table) {
        calls_.insert_or_assign(number, Call{call->what, call->protocol});
      }
      const auto* const step =
          std::ranges::find(kSteps, name, &std::pair<std::string_view, Step>::first);
      if (key->names == "tracepoint" && step != std::end(kSteps) && table == Table::disks) {
        points_.insert_or_assign(number, step->second);
      }
    }
  }
}

void IoUse::add(const Event& event, const Analysis::Found& place, const Tasks& tasks) {
  const EventType* const type = info_.catalogue.find(event.id);
  if (event.id == FKT_E_NAME && type != nullptr) return names_.add(event, *type);
  const Field* const key = type != nullptr ? type->field(FieldUse::key) : nullptr;
  if (key == nullptr || key->type != FieldType::named || place.task == kNoTask) return;
  const TaskInfo& task = tasks[place.task];
  const TaskIndex process = task.leader == kNoTask ? place.task : task.leader;
  const std::uint64_t number = EventType::value(*key, event).value_or(0);
  if (type->made_of == 0) {
    const auto point = key->names == "tracepoint" ? points_.find(number) : points_.end();
    if (point != points_.end()) add_step(event, *type, point->second, process);
  } else if (type->role == Role::end && place.step.closed) {
    const auto call = calls_.find(number);
    if (call != calls_.end()) {
      add_call(event, *type, call->second, place.step.duration, process);
    }
  }
}

void IoUse::add_call(const Event& event, const EventType& type, const Call& call,
                     std::uint64_t duration, TaskIndex process) {
  Object object;
  if (table_ == Table::files) {
    object.device = value_of(type, event, "dev");
    object.number = value_of(type, event, "ino");
  } else {
    object.protocol = call.protocol;
    object.number = value_of(type, event, "sk");
    object.own_port = static_cast<std::uint16_t>(value_of(type, event, "sport"));
    object.port = static_cast<std::uint16_t>(value_of(type, event, "dport"));
    object.address = static_cast<std::uint32_t>(value_of(type, event, "daddr"));
    // The kernel stores an address of version 4 in daddr and, in another form, in daddr6.
    if (object.address == 0) object.address6 = address6_of(type, event, "daddr6");
  }
  Sums& sums = sums_[{process, object, call.what}];
  sums.add(duration);
  const bool has_result = call.what != What::fault;  // its result is a set of bits
  const auto result = static_cast<std::int64_t>(has_result ? value_of(type, event, "ret") : 0);
  const bool moves_bytes = call.what == What::read || call.what == What::write ||
                           call.what == What::send || call.what == What::receive;
  if (result < 0) {
    sums.errors++;
  } else if (moves_bytes) {
    sums.bytes += static_cast<std::uint64_t>(result);
  }
}

void IoUse::add_step(const Event& event, const EventType& type, Step step, TaskIndex process) {
  switch (step) {
    case Step::queue:
      askers_.insert_or_assign(
          std::pair(value_of(type, event, "dev"), value_of(type, event, "sector")),
          Asker{process, value_of(type, event, "part"), value_of(type, event, "ino")});
      return;
    case Step::issue:
      return issue(event, type, process);
    case Step::requeue:
      requests_.erase(value_of(type, event, "rq"));
      return;
    case Step::complete:
      return complete(event, type);
  }
}

// Returns the process that asked for the first part of these sectors for which it is known, and
// forgets all askers of parts of them. A request that does not read or write sectors, such as a
// SCSI command of a program, has the sector 2^64 - 1.
IoUse::Asker IoUse::take_asker(std::uint64_t device, std::uint64_t sector, std::uint64_t bytes) {
  const auto first = askers_.lower_bound(std::pair(device, sector));
  const auto behind = askers_.lower_bound(
      std::pair(device, sector + std::min(bytes / 512, ~std::uint64_t{0} - sector)));
  if (first == askers_.end() || first == behind) return {};
  const Asker asker = first->second;
  askers_.erase(first, behind);
  return asker;
}

void IoUse::issue(const Event& event, const EventType& type, TaskIndex process) {
  Request request;
  Object& object = request.object;
  object.device = value_of(type, event, "dev");
  request.what = what_of(value_of(type, event, "flags"));
  request.bytes = request.left = value_of(type, event, "bytes");
  request.issued = event.clock;
  const Asker asker = take_asker(object.device, value_of(type, event, "sector"), request.bytes);
  request.process = asker.process == kNoTask ? process : asker.process;
  object.file_device = asker.file != 0 ? asker.file_device : object.device;
  object.number = asker.file != 0 ? asker.file : value_of(type, event, "ino");
  requests_.insert_or_assign(value_of(type, event, "rq"), std::move(request));
}

void IoUse::complete(const Event& event, const EventType& type) {
  const auto found = requests_.find(value_of(type, event, "rq"));
  if (found == requests_.end()) return;
  Request& request = found->second;
  request.left -= std::min(request.left, value_of(type, event, "bytes"));
  const bool failed = value_of(type, event, "error") != 0;
  if (request.left > 0 && !failed) return;
  Sums& sums = sums_[{request.process, request.object, request.what}];
  sums.add(event.clock - std::min(event.clock, request.issued));
  sums.bytes += request.bytes - request.left;
  sums.errors += failed;
  requests_.erase(found);
}

void IoUse::lose() {
  requests_.clear();
  askers_.clear();
}

std::vector<IoUse::Row> IoUse::rows() const {
  std::vector<Row> rows;
  for (const auto& [key, sums] : sums_) {
    rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), sums});
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    return std::tuple(a.sums.bytes, a.sums.count) > std::tuple(b.sums.bytes, b.sums.count);
  });
  return rows;
}

std::string_view IoUse::file_name(const Object& object) const {
  const std::uint64_t device = table_ == Table::disks ? object.file_device : object.device;
  return names_.find(device, object.number);
}

std::string_view IoUse::name(What what) {
  return kWhatNames[static_cast<std::size_t>(what)];
}

}  // namespace fkt
