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

constexpr std::uint64_t kPeek = 0x2, kErrorQueue = 0x2000;  // MSG_PEEK, MSG_ERRQUEUE
constexpr std::size_t kMostInner = 16;  // calls that one call is known to have made
constexpr std::uint64_t kClosed = 7;    // TCP_CLOSE
// The tables of names that instruments' numbers are keys of.
constexpr std::string_view kFunction = "function", kTracepoint = "tracepoint";

constexpr std::string_view kWhatNames[] = {"read",       "write",      "open",  "sync",    "fault",
                                           "read ahead", "write back", "flush", "discard", "other",
                                           "send",       "receive",    "peek"};

std::uint64_t value_of(const EventType& type, const Event& event, std::string_view name) {
  const Field* const field = type.field(event, name);
  return field == nullptr ? 0 : EventType::value(*field, event).value_or(0);
}

constexpr std::size_t kMappedBytes = 12;

// Returns whether the address is one of version 4, as version 6 writes it.
bool is_mapped(const Ip6Address& address) {
  for (std::size_t i = 0; i < kMappedBytes; i++) {
    if (address[i] != (i < 10 ? std::byte{0} : std::byte{0xff})) return false;
  }
  return true;
}

std::uint32_t mapped_address(const Ip6Address& address) {
  std::uint32_t number = 0;
  for (std::size_t i = kMappedBytes; i < address.size(); i++) {
    number = number << 8 | std::to_integer<std::uint32_t>(address[i]);
  }
  return number;
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

struct KnownCall {
  std::string_view function;
  IoTable table;
  IoWhat what;
  std::string_view protocol = {};
};

// The calls that are added up in the tables. Which of them lies on the way depends on what the
// compiler made of the kernel, so several may be on one way: add_call() counts the outermost.
constexpr KnownCall kIoCalls[] = {
    {"vfs_read", IoTable::files, IoWhat::read},
    {"vfs_readv", IoTable::files, IoWhat::read},
    {"vfs_iter_read", IoTable::files, IoWhat::read},
    {"__kernel_read", IoTable::files, IoWhat::read},
    {"do_splice_read", IoTable::files, IoWhat::read},
    {"vfs_splice_read", IoTable::files, IoWhat::read},
    {"do_splice_to", IoTable::files, IoWhat::read},
    {"vfs_write", IoTable::files, IoWhat::write},
    {"vfs_writev", IoTable::files, IoWhat::write},
    {"vfs_iter_write", IoTable::files, IoWhat::write},
    {"iter_file_splice_write", IoTable::files, IoWhat::write},
    {"ovl_splice_write", IoTable::files, IoWhat::write},
    {"__kernel_write_iter", IoTable::files, IoWhat::write},
    {"vfs_open", IoTable::files, IoWhat::open},
    {"vfs_fsync_range", IoTable::files, IoWhat::sync},
    {"ext4_sync_file", IoTable::files, IoWhat::sync},
    {"xfs_file_fsync", IoTable::files, IoWhat::sync},
    {"btrfs_sync_file", IoTable::files, IoWhat::sync},
    {"f2fs_sync_file", IoTable::files, IoWhat::sync},
    {"ovl_fsync", IoTable::files, IoWhat::sync},
    {"fuse_fsync", IoTable::files, IoWhat::sync},
    {"nfs_file_fsync", IoTable::files, IoWhat::sync},
    {"v9fs_file_fsync", IoTable::files, IoWhat::sync},
    {"v9fs_file_fsync_dotl", IoTable::files, IoWhat::sync},
    {"fat_file_fsync", IoTable::files, IoWhat::sync},
    {"__generic_file_fsync", IoTable::files, IoWhat::sync},
    {"simple_fsync_noflush", IoTable::files, IoWhat::sync},
    {"blkdev_fsync", IoTable::files, IoWhat::sync},
    {"noop_fsync", IoTable::files, IoWhat::sync},
    {"filemap_fault", IoTable::files, IoWhat::fault},
    {"page_cache_ra_unbounded", IoTable::files, IoWhat::read_ahead},
    {"page_cache_ra_order", IoTable::files, IoWhat::read_ahead},
    {"do_writepages", IoTable::files, IoWhat::write_back},
    {"tcp_sendmsg", IoTable::sockets, IoWhat::send, "tcp"},
    {"tcp_sendpage", IoTable::sockets, IoWhat::send, "tcp"},
    {"tcp_recvmsg", IoTable::sockets, IoWhat::receive, "tcp"},
    {"tcp_splice_read", IoTable::sockets, IoWhat::receive, "tcp"},
    {"mptcp_sendmsg", IoTable::sockets, IoWhat::send, "mptcp"},
    {"mptcp_recvmsg", IoTable::sockets, IoWhat::receive, "mptcp"},
    {"tls_sw_sendmsg", IoTable::sockets, IoWhat::send, "tls"},
    {"tls_sw_sendpage", IoTable::sockets, IoWhat::send, "tls"},
    {"tls_sw_recvmsg", IoTable::sockets, IoWhat::receive, "tls"},
    {"tls_sw_splice_read", IoTable::sockets, IoWhat::receive, "tls"},
    {"udp_sendmsg", IoTable::sockets, IoWhat::send, "udp"},
    {"udp_sendpage", IoTable::sockets, IoWhat::send, "udp"},
    {"udpv6_sendmsg", IoTable::sockets, IoWhat::send, "udp6"},
    {"udp_recvmsg", IoTable::sockets, IoWhat::receive, "udp"},
    {"udpv6_recvmsg", IoTable::sockets, IoWhat::receive, "udp6"},
    {"unix_stream_sendmsg", IoTable::sockets, IoWhat::send, "unix"},
    {"unix_stream_sendpage", IoTable::sockets, IoWhat::send, "unix"},
    {"unix_stream_recvmsg", IoTable::sockets, IoWhat::receive, "unix"},
    {"unix_stream_splice_read", IoTable::sockets, IoWhat::receive, "unix"},
    {"unix_dgram_sendmsg", IoTable::sockets, IoWhat::send, "unix"},
    {"unix_dgram_recvmsg", IoTable::sockets, IoWhat::receive, "unix"},
    {"unix_seqpacket_sendmsg", IoTable::sockets, IoWhat::send, "unix"},
    {"unix_seqpacket_recvmsg", IoTable::sockets, IoWhat::receive, "unix"},
};

}  // namespace

void IoUse::Sums::add(std::uint64_t duration) {
  count++;
  shortest = std::min(shortest, duration);
  ticks += duration;
  longest = std::max(longest, duration);
  durations.add(duration);
}

// What is asked for at one moment and done at another, by whichever task.
struct IoUse::KnownPoint {
  std::string_view name;  // of a tracepoint, or "FUNCTION:entry"
  Table table;
  Point point;
};

void IoUse::find_sources() {
  constexpr KnownPoint kPoints[] = {
      {"block_bio_queue", Table::disks, {Step::queue}},
      {"block_rq_issue", Table::disks, {Step::issue}},
      {"block_rq_requeue", Table::disks, {Step::requeue}},
      {"block_rq_complete", Table::disks, {Step::complete}},
      {"aio_read:entry", Table::files, {Step::ask, What::read}},
      {"aio_write:entry", Table::files, {Step::ask, What::write}},
      {"aio_complete_rw:entry", Table::files, {Step::answer}},
      {"io_read:entry", Table::files, {Step::ask, What::read}},
      {"io_write:entry", Table::files, {Step::ask, What::write}},
      {"io_uring_complete", Table::files, {Step::answer}},
      {"inet_sock_set_state", Table::sockets, {Step::state}},
  };
  for (const EventType& type : info_.catalogue.events()) {
    const Field* const key = type.field(FieldUse::key);
    const Catalogue::NameTable* const names = key ? info_.catalogue.names(*key) : nullptr;
    if (names == nullptr || (key->names != kFunction && key->names != kTracepoint)) continue;
    const bool is_function = key->names == kFunction;
    for (const auto& [number, name] : *names) {
      const auto* const call = std::ranges::find(kIoCalls, name, &KnownCall::function);
      if (is_function && call != std::end(kIoCalls) && call->table == table_) {
        calls_.insert_or_assign(number, Call{call->what, call->protocol});
      }
      const auto* const point = std::ranges::find(kPoints, name, &KnownPoint::name);
      if (point == std::end(kPoints) || point->table != table_) continue;
      (is_function ? entries_ : points_).insert_or_assign(number, point->point);
    }
  }
}

IoUse::IoUse(Analysis& analysis, Table table)
    : analysis_(analysis), info_(analysis.info()), table_(table) {
  find_sources();
}

void IoUse::add(const Event& event, const Analysis::Found& place) {
  if (event.is_gap()) return lose();
  const EventType* const type = info_.catalogue.find(event.id);
  if (event.id == FKT_E_NAME && type != nullptr) return names_.add(event, *type);
  const Field* const key = type != nullptr ? type->field(FieldUse::key) : nullptr;
  if (key == nullptr || place.task == kNoTask) return;
  const bool is_function = key->names == kFunction;
  if (!is_function && key->names != kTracepoint) return;
  const std::uint64_t number = EventType::value(*key, event).value_or(0);
  if (type->made_of == 0) {
    const auto& points = is_function ? entries_ : points_;
    const auto point = points.find(number);
    if (point != points.end()) add_point(event, *type, point->second, place.task);
  } else if (type->role == Role::end && place.step.closed && place.shown) {
    const auto call = calls_.find(number);
    if (call != calls_.end()) add_call(event, *type, call->second, place);
  }
}

// Lost events may have been ends.
void IoUse::lose() {
  requests_.clear();
  askers_.clear();
  connections_.clear();
}

TaskIndex IoUse::process_of(TaskIndex task) const {
  const TaskIndex leader = analysis_.tasks()[task].leader;
  return leader == kNoTask ? task : leader;
}

// Returns whether the selection has the event if it is one of `task`, or of its process.
bool IoUse::is_selected(const Event& event, TaskIndex task) {
  for (const TaskIndex one : {task, process_of(task)}) {
    Event as = event;
    as.pid = analysis_.tasks()[one].tid;
    if (analysis_.selects(as, one)) return true;
  }
  return false;
}

IoUse::Object IoUse::object_of(const EventType& type, const Event& event,
                               std::string_view protocol) {
  Object object;
  if (table_ == Table::files) {
    object.device = value_of(type, event, "dev");
    object.number = value_of(type, event, "ino");
    return object;
  }
  object.protocol = protocol;
  object.number = value_of(type, event, "sk");
  object.own_port = static_cast<std::uint16_t>(value_of(type, event, "sport"));
  object.port = static_cast<std::uint16_t>(value_of(type, event, "dport"));
  object.address = static_cast<std::uint32_t>(value_of(type, event, "daddr"));
  // The other end of an IPv6 socket stands in daddr6; if it is an IPv4 address, as ::ffff:a.b.c.d.
  // daddr of such a socket can be anything. The other end of an IPv4 socket stands in daddr, and
  // daddr6 is 0 or the same address as ::ffff:a.b.c.d.
  const Ip6Address address6 = address6_of(type, event, "daddr6");
  if (is_mapped(address6)) {
    object.address = mapped_address(address6);
  } else if (address6 != Ip6Address{}) {
    object.address = 0;
    object.address6 = address6;
  }
  if (protocol != "tcp") return object;
  // A connection that both sides have closed has no ports any more.
  if (object.own_port != 0) {
    connections_.insert_or_assign(object.number, object);
  } else if (const auto known = connections_.find(object.number); known != connections_.end()) {
    return known->second;
  }
  return object;
}

// A traced function may call another one that moves the same bytes of the same object: then the
// outer one alone counts. It ends after the inner one, so a thread's last calls are kept for a
// while before they are counted.
void IoUse::add_call(const Event& event, const EventType& type, const Call& call,
                     const Analysis::Found& place) {
  const std::uint64_t flags = value_of(type, event, "flags");
  Done done{{process_of(place.task), object_of(type, event, call.protocol), call.what, false},
            event.clock - std::min(event.clock, place.step.duration),
            place.step.duration};
  auto& [process, object, what, below] = done.key;
  if (what == What::receive && (flags & kPeek) != 0) what = What::peek;
  if (what == What::receive && (flags & kErrorQueue) != 0) what = What::other;
  const bool has_result = what != What::fault;  // its result is a set of bits
  const auto result = static_cast<std::int64_t>(has_result ? value_of(type, event, "ret") : 0);
  const bool moves_bytes = what == What::read || what == What::write || what == What::send ||
                           what == What::receive || what == What::peek;
  done.failed = result < 0;
  if (moves_bytes && !done.failed) done.bytes = static_cast<std::uint64_t>(result);
  std::deque<Done>& lately = done_[place.task];
  std::erase_if(lately, [begin = done.begin, what = what, object = object](Done& inner) {
    if (inner.begin < begin || std::get<What>(inner.key) != what) return false;
    const Object& other = std::get<Object>(inner.key);
    if (other.device == object.device && other.number == object.number) return true;
    std::get<bool>(inner.key) = true;
    return false;
  });
  lately.push_back(done);
  if (lately.size() <= kMostInner) return;
  lately.front().add_to(sums_);
  lately.pop_front();
}

void IoUse::Done::add_to(std::map<Key, Sums>& all) const {
  Sums& sums = all[key];
  sums.add(duration);
  sums.bytes += bytes;
  sums.errors += failed;
}

void IoUse::add_point(const Event& event, const EventType& type, const Point& point,
                      TaskIndex task) {
  switch (point.step) {
    case Step::queue:
      askers_.insert_or_assign(
          std::pair(value_of(type, event, "dev"), value_of(type, event, "sector")),
          Asker{task, value_of(type, event, "part"), value_of(type, event, "ino"),
                is_selected(event, task)});
      return;
    case Step::issue:
      return issue(event, type, task);
    case Step::requeue:
      requests_.erase(value_of(type, event, "rq"));
      return;
    case Step::complete:
      return complete(event, type);
    case Step::ask:
      return ask(event, type, point.what, task);
    case Step::answer:
      return answer(event, type);
    case Step::state:
      // A socket leaves the state "closed" when it begins a new connection. The kernel may have
      // freed the old one and given its address to this one.
      if (value_of(type, event, "oldstate") == kClosed) {
        connections_.erase(value_of(type, event, "sk"));
      }
      return;
  }
}

// A request consists of the bios of one or more tasks. Returns the task whose bio has the lowest of
// these sectors, if any is known, and forgets all bios in them. A request that does not read or
// write sectors, such as a SCSI command of a program, has the sector 2^64 - 1.
IoUse::Asker IoUse::take_asker(std::uint64_t device, std::uint64_t sector, std::uint64_t bytes) {
  const auto first = askers_.lower_bound(std::pair(device, sector));
  const auto behind = askers_.lower_bound(
      std::pair(device, sector + std::min(bytes / 512, ~std::uint64_t{0} - sector)));
  if (first == askers_.end() || first == behind) return {};
  const Asker asker = first->second;
  askers_.erase(first, behind);
  return asker;
}

void IoUse::issue(const Event& event, const EventType& type, TaskIndex task) {
  Request request;
  Object& object = request.object;
  object.device = value_of(type, event, "dev");
  request.what = what_of(value_of(type, event, "flags"));
  request.bytes = request.left = value_of(type, event, "bytes");
  request.issued = event.clock;
  const Asker asker = take_asker(object.device, value_of(type, event, "sector"), request.bytes);
  request.task = asker.task == kNoTask ? task : asker.task;
  request.selected = asker.selected || is_selected(event, request.task);
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
  request.bytes -= request.left;
  add_request(event, request, failed);
  requests_.erase(found);
}

// io_uring calls io_read() or io_write() a second time, in a worker thread, if the first call would
// have had to wait. Both are one request of the task that made the first.
void IoUse::ask(const Event& event, const EventType& type, What what, TaskIndex task) {
  const bool selected = is_selected(event, task);
  const Object object = object_of(type, event, {});
  const auto [found, is_new] = requests_.try_emplace(value_of(type, event, "rq"));
  Request& request = found->second;
  if (is_new || request.object != object) request = {object, what, task, event.clock, 0, 0, false};
  request.selected |= selected;
}

void IoUse::answer(const Event& event, const EventType& type) {
  const auto found = requests_.find(value_of(type, event, "rq"));
  if (found == requests_.end()) return;
  // A number of 32 bits in one kernel's event and of 64 in another's.
  const auto result = static_cast<std::int64_t>(value_of(type, event, "result"));
  found->second.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(result, 0));
  add_request(event, found->second, result < 0);
  requests_.erase(found);
}

// Counts a request for the task that asked, if one of the request's events is selected.
void IoUse::add_request(const Event& event, const Request& request, bool failed) {
  if (!analysis_.in_window(event)) return;
  if (!request.selected && !is_selected(event, request.task)) return;
  const std::uint64_t duration = event.clock - std::min(event.clock, request.issued);
  Done{{process_of(request.task), request.object, request.what, false},
       request.issued,
       duration,
       request.bytes,
       failed}
      .add_to(sums_);
}

std::vector<IoUse::Row> IoUse::rows() const {
  std::map<Key, Sums> all = sums_;
  for (const auto& [task, lately] : done_) {
    for (const Done& done : lately) done.add_to(all);
  }
  std::vector<Row> rows;
  for (const auto& [key, sums] : all) {
    rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), sums});
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

std::string IoUse::name(What what, bool below) {
  return std::string(kWhatNames[static_cast<std::size_t>(what)]) + (below ? " below" : "");
}

}  // namespace fkt
