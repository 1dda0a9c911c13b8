// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/collector.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include <fmt/core.h>

#include <fkt/events.h>

#include "lib/base/os_error.h"
#include "lib/base/thread_nice.h"

namespace fkt::record {
namespace {

// Limits of the number of rings, in all and of one process. The kernel charges a ring's memory to
// the process.
constexpr std::size_t kMostRings = 4000;
constexpr unsigned kMostOfProcess = 1000;
// How long the collector rests (ms): while events come, and while none do.
constexpr int kBusyRest = 1, kIdleRest = 20;
constexpr std::uint64_t kLookPeriod = 5;   // per second: whether threads have ended
constexpr std::size_t kNamesPerLook = 50;  // threads whose names are read
constexpr std::size_t kOwnSlot = 0;
constexpr int kNice = -10;
// A ring is a fourth of a CPU's ring (-p), because there are more threads than CPUs.
constexpr std::uint32_t kRingShare = 2;
constexpr std::uint64_t kLeastRing = 64 << 10;  // bytes

class RingMemory {
 public:
  RingMemory() = default;
  RingMemory(void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  RingMemory(RingMemory&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
  RingMemory& operator=(RingMemory&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~RingMemory() {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
  }
  fkt_user_ring* ring() const { return static_cast<fkt_user_ring*>(memory_); }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

std::uint64_t thread_cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(used.tv_nsec);
}

}  // namespace

struct Collector::Ring {
  RingMemory memory;
  RingReader reader;
  std::size_t slot;
  pid_t tgid, tid;
  bool of_functions;
  bool ended = false;  // the thread has ended, or has a new ring
};

// Writes a ring's events to its slot.
class Collector::Sink : public RingSink {
 public:
  Sink(PageWriter& pages, std::uint32_t tid) : pages_(pages), tid_(tid) {}
  void event(std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
             std::span<const std::uint64_t> words) override {
    pages_.event(tid_, after(clock), id, arg, words);
  }
  void lost(std::uint64_t clock, std::uint64_t count, std::uint64_t from) override {
    pages_.lost(tid_, after(clock), count, from);
  }

 private:
  // The thread that had the slot before may have written later.
  std::uint64_t after(std::uint64_t clock) const { return std::max(clock, pages_.clock()); }
  PageWriter& pages_;
  std::uint32_t tid_;
};

Collector::Collector(const CollectorRules& rules, const UserClock& clock, PageFile& file,
                     UniqueFd ask, UniqueFd ended)
    : rules_(rules),
      clock_(clock),
      file_(file),
      ask_(std::move(ask)),
      ended_(std::move(ended)),
      functions_(rules.functions) {}

Collector::~Collector() {
  stop();
}

std::uint64_t Collector::ring_words(std::uint32_t pow_pages) {
  const std::uint64_t bytes = (std::uint64_t{4096} << pow_pages) >> kRingShare;
  return std::max(bytes, kLeastRing) / sizeof(std::uint64_t);
}

Result<std::unique_ptr<Collector>> Collector::open(const CollectorRules& rules,
                                                   const UserClock& clock, PageFile& file) {
  UniqueFd ask = make_event_fd(), ended = make_event_fd();
  if (!ask || !ended) return os_failure("eventfd");
  std::unique_ptr<Collector> made(
      new Collector(rules, clock, file, std::move(ask), std::move(ended)));
  Collector* const self = made.get();
  auto socket = FKT_TRY(RingSocket::open(
      rules.user,
      {[self](pid_t tgid, const RingSocket::Thread& asking) { return self->attach(tgid, asking); },
       [self](std::string_view text) { return self->define(text); },
       [self](const RingSocket::Asker& asker, const fkt_user_func& function) {
         return self->number(asker, function);
       }}));
  made->socket_.emplace(std::move(socket));
  return made;
}

Status Collector::start(std::uint64_t start_clock) {
  start_clock_ = saved_ = start_clock;
  const std::uint64_t khz = clock_.read().khz;
  ticks_per_second_ = khz * 1000;
  least_ticks_ = static_cast<std::uint64_t>(static_cast<double>(rules_.functions.least_ns) *
                                            static_cast<double>(khz) / 1e6);
  thread_ = std::jthread([this] { run(); });
  return Done{};
}

void Collector::stop() {
  if (!thread_.joinable()) return;
  signal_event(ask_);
  thread_.join();
}

PageWriter& Collector::slot(std::size_t number) {
  while (slots_.size() <= number) {
    slots_.push_back(std::make_unique<PageWriter>(
        PageWriter::Identity{rules_.recording, rules_.page_bytes,
                             static_cast<std::uint32_t>(slots_.size())},
        [this](const fkt_page_header& header, ByteView page) { page_done(header, page); }));
    used_.push_back(0);
  }
  return *slots_[number];
}

std::size_t Collector::free_slot() {
  std::size_t number = kOwnSlot + 1;
  while (number < used_.size() && used_[number]) number++;
  slot(number);
  return number;
}

void Collector::page_done(const fkt_page_header& header, ByteView page) {
  if (header.cpu != kOwnSlot && std::exchange(untold_, false)) {
    // Readers need these before the pages that have such events.
    slot(kOwnSlot).save();
  }
  if (file_.add(header, page)) return;
  const std::uint32_t lacking = header.events - file_.events_of(header);
  discarded_[header.cpu] += lacking;
  collected_.discarded += lacking;
  over_ = true;
}

// Returns the slot for a new ring of the thread. The two rings of a thread share a slot: readers
// take slots for CPUs, and would take a thread on two of them for two threads.
std::size_t Collector::place_for(pid_t tid) {
  const auto other = std::ranges::find_if(
      rings_, [tid](const auto& ring) { return ring->tid == tid && !ring->ended; });
  if (other == rings_.end()) return free_slot();
  orders_.try_emplace((*other)->slot);
  return (*other)->slot;
}

Result<UniqueFd> Collector::attach(pid_t tgid, const RingSocket::Thread& asking) {
  const std::optional<pid_t> tid = find_thread(tgid, asking.tid);
  if (!tid) return Error{ErrorCode::usage, "no such thread"};
  // A thread that has executed another program has a new ring.
  for (const auto& ring : rings_) {
    ring->ended |= ring->tid == *tid && ring->of_functions == asking.of_functions;
  }
  unsigned& of_process = of_process_[tgid];
  if (rings_.size() >= kMostRings || of_process >= kMostOfProcess) {
    return Error{ErrorCode::usage, "too many rings"};
  }
  const std::size_t bytes = FKT_USER_HEADER_BYTES + rules_.ring_words * sizeof(std::uint64_t);
  UniqueFd fd(::memfd_create("fkt-user", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return os_failure("memory for a ring");
  }
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return os_failure("memory for a ring");
  RingMemory mapped(memory, bytes);
  fkt_user_ring* const ring = mapped.ring();
  ring->magic = FKT_USER_MAGIC;
  ring->version = FKT_USER_VERSION;
  ring->words = rules_.ring_words;
  ring->clock = clock_.of_rings();
  ring->clock_offset = static_cast<std::uint64_t>(clock_offset(tgid));
  ring->least = least_ticks_;
  ring->only_inside = !rules_.functions.inside.empty();
  ring->asking = FKT_USER_ASKING;
  tell(fmt::format("name\tuser\t{}\t{}\n", FKT_USER_ASKING, FKT_USER_ASKING_NAME));
  const std::size_t place = place_for(*tid);
  RingReader reader(ring, rules_.ring_words, start_clock_, slots_[place]->most_words());
  reader.allow_ahead(ticks_per_second_ / 10);
  rings_.push_back(std::make_unique<Ring>(
      Ring{std::move(mapped), std::move(reader), place, tgid, *tid, asking.of_functions}));
  of_process++;
  used_[place]++;
  collected_.rings += !orders_.contains(place);
  tasks_.look(tgid, *tid);
  return fd;
}

Result<fkt_user_answer> Collector::define(std::string_view text) {
  const auto number = FKT_TRY(numbers_.of(text));
  tell(number.lines);
  return fkt_user_answer{FKT_USER_MAGIC, 1, number.number, number.plain};
}

Result<fkt_user_answer> Collector::number(const RingSocket::Asker& asker,
                                          const fkt_user_func& function) {
  const auto number = FKT_TRY(functions_.of(asker.tgid, asker.trusted, function));
  tell(number.lines);
  return fkt_user_answer{FKT_USER_MAGIC, 1, number.number, number.rules};
}

// Writes the lines that are new into the recording. What readers take for a CPU is idle behind
// them.
void Collector::tell(std::string_view added) {
  const std::string lines = definitions_.add(added);
  if (lines.empty()) return;
  PageWriter& own = slot(kOwnSlot);
  std::vector<std::uint64_t> words((lines.size() + 7) / 8);
  std::memcpy(words.data(), lines.data(), lines.size());
  const auto self = static_cast<std::uint32_t>(::getpid());
  const std::uint64_t now = std::max(clock_.now(), own.clock());
  own.event(self, now, FKT_E_DEFINE, static_cast<std::uint32_t>(words.size()), words);
  own.event(self, now, FKT_E_SWITCH_S, 0, {});
  untold_ = true;
}

bool Collector::take(Ring& ring, bool has_ended) {
  const auto order = orders_.find(ring.slot);
  if (order != orders_.end()) return ring.reader.take(clock_.now(), has_ended, order->second);
  Sink sink(*slots_[ring.slot], static_cast<std::uint32_t>(ring.tid));
  return ring.reader.take(clock_.now(), has_ended, sink);
}

// Writes the held events of slots with two rings.
void Collector::release(std::uint64_t until) {
  for (const auto& ring : rings_) {
    const auto order = orders_.find(ring->slot);
    if (order == orders_.end()) continue;
    Sink sink(*slots_[ring->slot], static_cast<std::uint32_t>(ring->tid));
    order->second.release(until, sink);
  }
}

void Collector::let_go(Ring& ring) {
  collected_.unfinished += ring.reader.unfinished();
  collected_.broken += !ring.reader.is_sound();
  if (--used_[ring.slot] == 0) {
    Sink sink(*slots_[ring.slot], static_cast<std::uint32_t>(ring.tid));
    if (orders_.contains(ring.slot)) {
      orders_.extract(ring.slot).mapped().release(~std::uint64_t{0}, sink);
    }
    // A ring that holds anything else may say any time.
    const bool ended = __atomic_load_n(&ring.memory.ring()->ended, __ATOMIC_ACQUIRE) != 0;
    if (ring.reader.is_sound() && (ended || !thread_lives(ring.tgid, ring.tid))) {
      end_task(ring, sink);
    }
  }
  collected_.unasked += __atomic_load_n(&ring.memory.ring()->unasked, __ATOMIC_RELAXED);
  collected_.too_deep += __atomic_load_n(&ring.memory.ring()->too_deep, __ATOMIC_RELAXED);
  tasks_.look(ring.tgid, ring.tid);
  call_task(ring);
  if (--of_process_[ring.tgid] == 0) of_process_.erase(ring.tgid);
}

// Returns whether any event was taken.
bool Collector::take_all(bool is_last) {
  bool any = false;
  const std::uint64_t before = is_last ? ~std::uint64_t{0} : clock_.now();
  for (const auto& ring : rings_) {
    // Read before the ring, so that events up to this time are in it.
    const bool ended = is_last || ring->ended ||
                       __atomic_load_n(&ring->memory.ring()->ended, __ATOMIC_ACQUIRE) != 0;
    if (is_last) __atomic_store_n(&ring->memory.ring()->stopped, 1, __ATOMIC_RELAXED);
    any |= take(*ring, ended);
    ring->ended = ended;
  }
  release(before);
  std::erase_if(rings_, [this](const std::unique_ptr<Ring>& ring) {
    const bool gone = ring->ended || !ring->reader.is_sound();
    if (gone) let_go(*ring);
    return gone;
  });
  return any;
}

// What readers take for a CPU is idle from here on: the thread has ended.
void Collector::end_task(const Ring& ring, RingSink& sink) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t said = __atomic_load_n(&ring.memory.ring()->ended_at, __ATOMIC_RELAXED);
  sink.event(said == 0 ? now : std::min(said, now), FKT_E_SWITCH_X, 0, {});
}

// The thread has ended, and /proc does not know it any more: it says its name itself.
void Collector::call_task(const Ring& ring) {
  char name[FKT_USER_THREAD_NAME];
  std::memcpy(name, ring.memory.ring()->name, sizeof name);
  const std::string_view text(name, ::strnlen(name, sizeof name));
  if (!text.empty()) tasks_.call(ring.tid, text);
}

// A thread that is killed, or executes another program, does not report its end. Threads may get
// other names; a part of them is asked each time, because there may be thousands.
void Collector::look_for_ended() {
  for (const auto& ring : rings_) ring->ended |= !thread_lives(ring->tgid, ring->tid);
  for (std::size_t i = std::min(rings_.size(), kNamesPerLook); i > 0; i--) {
    const Ring& ring = *rings_[next_name_++ % rings_.size()];
    tasks_.look(ring.tgid, ring.tid);
  }
}

// Events do not wait longer than a second until they are written, so that a recorder that is killed
// has written what is older.
void Collector::save_old(std::uint64_t now) {
  if (now - saved_ < ticks_per_second_) return;
  saved_ = now;
  for (const auto& pages : slots_) pages->save();
}

void Collector::run() {
  // If the collector is late, events are lost. Without CAP_SYS_NICE this has no effect.
  set_thread_nice(kNice);
  std::uint64_t looked = start_clock_;
  bool busy = true;
  while (!over_) {
    std::vector<pollfd> fds = {{ask_.get(), POLLIN, 0}};
    socket_->add_to(fds);
    ::poll(fds.data(), fds.size(), busy ? kBusyRest : kIdleRest);
    const bool asked_to_stop = fds[0].revents != 0;
    socket_->answer();
    const std::uint64_t now = clock_.now();
    if (now - looked > ticks_per_second_ / kLookPeriod) {
      looked = now;
      look_for_ended();
    }
    busy = take_all(false);
    save_old(now);
    if (asked_to_stop) break;
  }
  take_all(true);
  for (const auto& pages : slots_) pages->flush(pages->clock());
  for (const auto& pages : slots_) {
    collected_.events += pages->events();
    collected_.lost += pages->lost_events();
  }
  collected_.refused = socket_->refused();
  collected_.strangers = socket_->strangers();
  collected_.late = socket_->late();
  collected_.unmatched = functions_.unmatched();
  collected_.cpu_ns = thread_cpu_ns();
  signal_event(ended_);
}

CpuStates Collector::cpus() const {
  CpuStates out;
  for (std::size_t i = 0; i < slots_.size(); i++) {
    const auto cpu = static_cast<std::uint32_t>(i);
    const auto discarded = discarded_.find(cpu);
    fkt_cpu_status status{};
    status.cpu = cpu;
    status.events = slots_[i]->events();
    status.lost = slots_[i]->lost_events();
    status.discarded = discarded == discarded_.end() ? 0 : discarded->second;
    status.pages_written = slots_[i]->pages();
    out.emplace(cpu, status);
  }
  return out;
}

}  // namespace fkt::record
