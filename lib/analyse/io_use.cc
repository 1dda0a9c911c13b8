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

IoUse::What IoUse::operation(std::uint64_t flags) {
  switch (flags & 0xff) {  // enum req_op
    case 0:
      return What::read;
    case 1:
    case 9:  // zeroes
      return What::write;
    case 2:
      return What::flush;
    case 3:
    case 5:  // erase
      return What::discard;
    default:
      return What::other;
  }
}

// What is asked for at one moment and done at another, by whichever task.
struct IoUse::KnownPoint {
  std::string_view name;  // of a tracepoint, or "FUNCTION:entry"
  Table table;
  Point point;
};

void IoUse::find_sources() {
  constexpr KnownPoint kPoints[] = {
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
      const DiskRequests::Step* const of_disk = DiskRequests::step_of(name);
      if (of_disk != nullptr && !is_function && table_ == Table::disks) {
        points_.insert_or_assign(number, Point{.of_disk = *of_disk});
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
  disk_requests_.lose();
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

IoUse::Object IoUse::file_of(const EventType& type, const Event& event) {
  Object object;
  object.device = field_value(type, event, "dev");
  object.number = field_value(type, event, "ino");
  return object;
}

IoUse::Object IoUse::socket_of(const EventType& type, const Event& event,
                               std::string_view protocol) {
  Object object;
  object.protocol = protocol;
  object.number = field_value(type, event, "sk");
  object.own_port = static_cast<std::uint16_t>(field_value(type, event, "sport"));
  object.port = static_cast<std::uint16_t>(field_value(type, event, "dport"));
  object.address = static_cast<std::uint32_t>(field_value(type, event, "daddr"));
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
  return object;
}

std::string_view IoUse::protocol_of(std::string_view function) {
  const auto* const call = std::ranges::find(kIoCalls, function, &KnownCall::function);
  return call == std::end(kIoCalls) ? std::string_view() : call->protocol;
}

IoUse::Object IoUse::object_of(const EventType& type, const Event& event,
                               std::string_view protocol) {
  if (table_ == Table::files) return file_of(type, event);
  const Object object = socket_of(type, event, protocol);
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
  const std::uint64_t flags = field_value(type, event, "flags");
  Done done{{process_of(place.task), object_of(type, event, call.protocol), call.what, false},
            event.clock - std::min(event.clock, place.step.duration),
            place.step.duration};
  auto& [process, object, what, below] = done.key;
  if (what == What::receive && (flags & kPeek) != 0) what = What::peek;
  if (what == What::receive && (flags & kErrorQueue) != 0) what = What::other;
  const bool has_result = what != What::fault;  // its result is a set of bits
  const auto result = static_cast<std::int64_t>(has_result ? field_value(type, event, "ret") : 0);
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
    case Step::disk:
      return add_disk(event, type, point.of_disk, task);
    case Step::ask:
      return ask(event, type, point.what, task);
    case Step::answer:
      return answer(event, type);
    case Step::state:
      // A socket leaves the state "closed" when it begins a new connection. The kernel may have
      // freed the old one and given its address to this one.
      if (field_value(type, event, "oldstate") == kClosed) {
        connections_.erase(field_value(type, event, "sk"));
      }
      return;
  }
}

void IoUse::add_disk(const Event& event, const EventType& type, DiskRequests::Step step,
                     TaskIndex task) {
  const DiskRequest* const done = disk_requests_.add(
      event, type, step, task, [&](TaskIndex by) { return is_selected(event, by); });
  if (done == nullptr) return;
  Object object;
  object.device = done->device;
  object.file_device = done->file_device;
  object.number = done->file;
  add_request(
      event,
      {object, operation(done->flags), done->task, done->issued, done->bytes, done->selected},
      done->failed);
}

// io_uring calls io_read() or io_write() a second time, in a worker thread, if the first call would
// have had to wait. Both are one request of the task that made the first.
void IoUse::ask(const Event& event, const EventType& type, What what, TaskIndex task) {
  const bool selected = is_selected(event, task);
  const Object object = object_of(type, event, {});
  const auto [found, is_new] = requests_.try_emplace(field_value(type, event, "rq"));
  Request& request = found->second;
  if (is_new || request.object != object) request = {object, what, task, event.clock, 0, false};
  request.selected |= selected;
}

void IoUse::answer(const Event& event, const EventType& type) {
  const auto found = requests_.find(field_value(type, event, "rq"));
  if (found == requests_.end()) return;
  // A number of 32 bits in one kernel's event and of 64 in another's.
  const auto result = static_cast<std::int64_t>(field_value(type, event, "result"));
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
