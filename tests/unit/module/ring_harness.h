// SPDX-License-Identifier: GPL-2.0-only
// Runs include/fkt/ring*.h in user space with control over every step: at each FKT_RING_STEP, each
// clock reading and each wake-up, a nested writer (interrupt, NMI) or the drain can be run. Records
// every attempted write; verify() compares these with the contents of the drained pages.
//
//   RingHarness ring({.page_bytes = 160, .pages = 2});
//   ring.on_step([&](RingHarness& r) { r.write(1); });  // nested, as an interrupt would
//   ring.write(0);
//   ring.finish();  // throws Wrong with a description of the error
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct fkt_ring;
namespace fkt::test {
unsigned long long ring_clock();
void ring_wake(const fkt_ring* ring, std::uint32_t run);
void ring_step(const char* name);
// The number of a thread whose events are never written quickly.
inline constexpr std::uint32_t kApartPid = 9;
}  // namespace fkt::test

#define fkt_ring_clock() fkt::test::ring_clock()
#define fkt_ring_wake(ring, run) fkt::test::ring_wake(ring, run)
#define fkt_ring_remembered(pid) ((pid) == fkt::test::kApartPid ? FKT_PID_APART : (pid))
#define FKT_RING_STEP(name) fkt::test::ring_step(#name)
#include <fkt/ring_drain.h>
#include <fkt/ring_write.h>

namespace fkt::test {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void expect(bool ok, const char* what) {
  if (!ok) [[__unlikely__]]
    throw Wrong(what);
}
inline void expect_eq(std::uint64_t expected, std::uint64_t actual, const char* what) {
  if (expected != actual) [[__unlikely__]]
    throw Wrong(std::string(what) + ": expected " + std::to_string(expected) + ", got " +
                std::to_string(actual));
}

class RingHarness {
 public:
  struct Options {
    std::uint32_t page_bytes = 4096;
    std::uint32_t pages = 2;
    std::uint32_t start = 0;  // sequence number of the first page
    std::uint64_t clock = 1'000'000;
    bool keeps_gap = false;
  };
  using Hook = std::function<void(RingHarness&)>;
  static constexpr unsigned kDepth = 3;  // nesting depth of writers: task, irq, NMI
  static constexpr std::uint32_t kCpu = 5;

  explicit RingHarness(const Options& options)
      : options_(options), clock_(options.clock), next_seq_(options.start) {
    std::uint32_t slots = 1;
    while (slots < options.pages) slots *= 2;
    slots_.resize(slots);
    memory_ = std::make_unique<std::uint64_t[]>(options.page_bytes / 8 * options.pages);
    fkt_ring_init(&ring_, slots_.data(), slots, options.page_bytes);
    ring_.word = fkt_ring_word(options.start - 1, FKT_RING_CLOSED);
    ring_.limit = ring_.tail = options.start;
    ring_.keeps_gap = options.keeps_gap;
    for (std::uint32_t i = 0; i < options.pages; ++i)
      queue(reinterpret_cast<fkt_page_header*>(memory_.get() + i * (options.page_bytes / 8)));
    active() = this;
  }
  ~RingHarness() {
    if (active() == this) active() = nullptr;
  }
  RingHarness(const RingHarness&) = delete;
  RingHarness& operator=(const RingHarness&) = delete;

  // Sets a hook that runs at every step, at any depth below kDepth.
  void on_step(Hook hook) { hook_ = std::move(hook); }
  unsigned depth() const { return static_cast<unsigned>(frames_.size()); }
  const char* step_name() const { return step_name_; }

  // Operations of the CPU that owns the ring.

  // Writes an event with n data words like a probe: n is a compile-time constant in each call.
  void write(std::uint32_t n) {
    static constexpr std::uint32_t ids[] = {FKT_E_SYS_ENTRY, FKT_E_FORK, FKT_E_TRAP, FKT_E_CLOCK};
    const std::uint32_t serial = attempt(ids[n], pid_, n);
    const std::uint64_t head = fkt_word(0, ids[n], serial);
    const auto words = body(serial, n);
    switch (n) {
      case 0:
        fkt_ring_write(&ring_, head, pid_, nullptr, 0);
        break;
      case 1:
        fkt_ring_write(&ring_, head, pid_, words.data(), 1);
        break;
      case 2:
        fkt_ring_write(&ring_, head, pid_, words.data(), 2);
        break;
      default:
        fkt_ring_write(&ring_, head, pid_, words.data(), 3);
    }
    frames_.pop_back();
  }

  // Writes an event with one data word as the probe of calls does: quickly, or like the others if
  // that is not possible.
  void try_write(std::uint64_t small = 0) {
    const std::uint32_t serial = attempt(FKT_E_FORK, pid_, 1);
    const std::uint64_t head = fkt_word(0, FKT_E_FORK, serial);
    const auto words = body(serial, 1);
    fkt_page_header* h = nullptr;
    u64 next = 0;
    // The time at which the call returned, which was read before.
    const u64 clock = ring_clock();
    ring_step("after_clock");
    if (fkt_ring_try_reserve(&ring_, pid_, 16, small, clock, &h, &next)) {
      u64* const at = fkt_ring_tried(h, next, 16);
      at[0] = head | (clock & FKT_TIME_MASK);
      at[1] = words[0];
      // Both ways to commit, in turn.
      if (tried_ % 2 == 0 ? fkt_ring_try_commit(h, 16)
                          : fkt_ring_try_commit_by(h, fkt_ring_to_commit(16))) {
        fkt_ring_wake(&ring_, static_cast<std::uint32_t>(next >> 32));
      }
      ++tried_;
    } else {
      fkt_ring_write(&ring_, head, pid_, words.data(), 1);
    }
    frames_.pop_back();
  }

  // Writes the begin and the end of a system call; they become one word if nothing comes in
  // between.
  void begin(std::uint32_t number) {
    attempt(FKT_E_SYS_ENTRY, pid_, 0);
    attempts_.back().arg = number;
    if (number < FKT_PN_SYSCALL)
      fkt_ring_write_begin(&ring_, FKT_PK_SYSCALL, FKT_P_SYSCALL, number, pid_);
    else
      fkt_ring_write(&ring_, fkt_word(0, FKT_E_SYS_ENTRY, number), pid_, nullptr, 0);
    frames_.pop_back();
  }
  void end(std::int32_t result) {
    attempt(FKT_E_SYS_EXIT, pid_, 0);
    attempts_.back().arg = arg_of(result);
    const fkt_end what = {FKT_PK_SYSCALL, 0, 0, pid_, result};
    if (!fkt_ring_join(&ring_, &what, true) && !fkt_ring_join(&ring_, &what, false)) {
      fkt_ring_write(&ring_, fkt_word(0, FKT_E_SYS_EXIT, attempts_[frames_.back()].arg), pid_,
                     nullptr, 0);
    }
    frames_.pop_back();
  }

  // Writes an event of variable length: one data word (its serial number) and `bytes` bytes of
  // text.
  void write_string(std::uint32_t bytes) {
    bytes = std::min(bytes, fkt_ring_tail_room(&ring_, 1));
    const std::uint32_t serial = attempt(FKT_E_EXEC, pid_, 0);
    attempts_.back().arg = 1 + (bytes + 7) / 8;
    const u64 word = serial;
    const std::string text(bytes, letter(serial));
    const fkt_body what = {&word, 1, bytes, text.data(), 0};
    fkt_ring_write_any(&ring_, fkt_word(0, FKT_E_EXEC, fkt_body_words(&what)), pid_, pid_, &what);
    frames_.pop_back();
  }

  // Writes the scheduler's switch to another thread. Nested writers during it still have the old
  // pid.
  void switch_to(std::uint32_t next) {
    attempt(FKT_E_SWITCH_S, pid_, 0);
    attempts_.back().arg = next;
    fkt_ring_write_any(&ring_, fkt_word(0, FKT_E_SWITCH_S, next), pid_, next, nullptr);
    ring_step("after_switch");
    if (next == kApartPid) ring_.last_pid = FKT_PID_APART;
    frames_.pop_back();
    pid_ = next;
  }

  // Closes the open page, as the drain's interrupt does with an old page.
  void close() {
    frames_.push_back(kNobody);
    fkt_ring_close(&ring_);
    frames_.pop_back();
  }

  // Nothing is recorded from here on, until resume().
  void pause() {
    close();
    fkt_ring_pause(&ring_, clock_);
  }
  // As the module does where a loss ends the recording.
  void resume() {
    fkt_ring_resume(&ring_);
    ring_.keeps_gap = options_.keeps_gap;
  }

  void advance(std::uint64_t ticks) { clock_ += ticks; }
  // Sets the clock back, as on a machine restored from a snapshot. From then on a time does not
  // identify its event; verify() compares events in the order in which they were written.
  void step_back(std::uint64_t ticks) {
    clock_ -= ticks;
    stepped_back_ = true;
  }

  // Operations of the drain on another CPU.

  // Takes the oldest page if it is complete, and decodes it.
  bool take() {
    fkt_page_header* h = fkt_ring_take(&ring_);
    if (!h) return false;
    fkt_ring_seal(h);
    decode(h);
    held_.push_back(h);
    return true;
  }
  // Returns one taken page to the ring.
  bool put() {
    if (held_.empty()) return false;
    queue(held_.front());
    held_.erase(held_.begin());
    return true;
  }
  bool drain() {
    bool any = false;
    while (take()) any = true;
    while (put()) {
    }
    return any;
  }

  // The end of a test.

  // Called when no writer is active: closes the open page, drains and compares.
  void finish() {
    hook_ = nullptr;
    expect(frames_.empty(), "finish() inside a writer");
    close();
    while (take()) {
    }
    verify();
  }

  void verify() {
    expect_eq(static_cast<std::uint32_t>(ring_.word >> 32) + 1, ring_.tail,
              "the first page not drained at the end");
    check_wakes();
    if (stepped_back_) {
      check_stamps();
      return;
    }
    check_events();
    check_losses();
  }

  std::uint64_t attempted() const { return attempts_.size(); }
  std::uint64_t written() const { return events_.size(); }
  std::uint64_t tried() const { return tried_; }  // events that try_write() wrote quickly
  std::uint64_t lost() const { return ring_.lost; }
  std::uint32_t free_pages() const { return fkt_ring_free(&ring_); }
  std::uint64_t gaps() const { return gaps_.size(); }
  std::uint64_t pages() const { return next_seq_ - options_.start; }
  std::uint64_t time_words() const { return time_words_; }
  std::uint64_t pid_words() const { return pid_words_; }
  std::uint64_t pairs() const { return pairs_; }
  std::uint64_t clock_back() const { return ring_.clock_back; }

 private:
  friend unsigned long long ring_clock();
  friend void ring_wake(const fkt_ring* ring, std::uint32_t run);
  friend void ring_step(const char* name);

  static constexpr std::uint32_t kNobody = ~0U;
  static constexpr std::uint64_t kRecording = 0x0123456789abcdef;

  struct Attempt {
    std::uint64_t clock = 0;   // as read last by this writer
    std::uint64_t latest = 0;  // the latest clock reading by any writer so far
    std::uint32_t id, arg, pid;
    bool lost = true;
  };
  struct Decoded {
    std::uint64_t clock;
    std::uint32_t id, arg, pid;
  };
  struct Gap {
    std::uint64_t from, end, count;  // count: since the start
  };

  static RingHarness*& active() {
    static thread_local RingHarness* harness = nullptr;
    return harness;
  }

  static std::uint32_t arg_of(std::int32_t result) {
    return fkt_word_arg(fkt_word(0, 0, static_cast<std::uint32_t>(result)));
  }
  static std::uint64_t mix(std::uint64_t serial, std::uint32_t i) {
    return (serial * 8 + i + 1) * 0x9e3779b97f4a7c15ULL;
  }
  static char letter(std::uint32_t serial) { return static_cast<char>('a' + serial % 26); }
  static std::array<u64, 3> body(std::uint32_t serial, std::uint32_t n) {
    std::array<u64, 3> words{};
    for (std::uint32_t i = 0; i < n; ++i) words[i] = mix(serial, i);
    return words;
  }

  // A closed page's memory may have been freed and reused: its address must never be found.
  void check_open_page() const {
    if (!fkt_ring_is_closed(ring_.word)) return;
    const bool is_none = ring_.open_page == fkt_ring_no_page(&ring_, FKT_RING_NOWHERE) ||
                         ring_.open_page == fkt_ring_no_page(&ring_, FKT_RING_OPENING);
    expect_eq(is_none, true, "no open page");
  }

  std::uint32_t attempt(std::uint32_t id, std::uint32_t pid, std::uint32_t) {
    check_open_page();
    const std::uint32_t serial = static_cast<std::uint32_t>(attempts_.size());
    attempts_.push_back(
        {.id = id, .arg = serial & static_cast<std::uint32_t>(FKT_ARG_MASK), .pid = pid});
    frames_.push_back(serial);
    return serial;
  }

  void step(const char* name) {
    if (!hook_ || depth() >= kDepth) return;
    nested_ = true;
    step_name_ = name;
    hook_(*this);
  }

  void queue(fkt_page_header* h) {
    std::memset(h, 0xa5, options_.page_bytes);
    const fkt_page_identity identity = {kRecording, reinterpret_cast<std::uintptr_t>(h) >> 3, kCpu};
    fkt_ring_put(&ring_, h, &identity);
  }

  void decode(const fkt_page_header* h) {
    check_header(h);
    const auto* at = reinterpret_cast<const std::uint64_t*>(h);
    const std::uint64_t* const end = at + h->used / 8;
    at += FKT_PAGE_HEADER_BYTES / 8;
    std::uint64_t clock = h->first_clock;
    std::uint32_t pid = h->pid, events = 0;
    while (at < end) {
      const std::uint64_t word = *at++;
      const std::uint32_t id = fkt_word_id(word);
      if (id == FKT_W_TIME) {
        clock = fkt_time_word_clock(word, clock);
        ++time_words_;
        continue;
      }
      clock = fkt_word_clock(word, clock);
      if (id == FKT_W_PID) {
        pid = fkt_word_arg(word);
        ++pid_words_;
      } else if (id == FKT_W_LOST) {
        expect(at + FKT_LOST_WORDS <= end, "a LOST word at the page's end");
        expect_eq(h->lost, at[0], "the LOST word's count against the header's");
        gaps_.push_back({at[1], clock, at[0]});
        at += FKT_LOST_WORDS;
      } else if (id >= FKT_PAIR_ID) {
        expect(id - FKT_P_SYSCALL < FKT_PN_SYSCALL, "a pair of an unknown kind");
        events_.push_back({clock, FKT_E_SYS_ENTRY, id - FKT_P_SYSCALL, pid});
        ++events;
        if (fkt_word_arg(word) == 0) continue;
        clock += fkt_pair_ticks(fkt_word_arg(word));
        events_.push_back({clock, FKT_E_SYS_EXIT, arg_of(fkt_pair_value(fkt_word_arg(word))), pid});
        ++events;
        ++pairs_;
      } else {
        events_.push_back({clock, id, fkt_word_arg(word), pid});
        at += check_body(id, fkt_word_arg(word), at, end);
        if (id == FKT_E_SWITCH_S) pid = fkt_word_arg(word) & FKT_PID_MASK;
        ++events;
      }
    }
    expect(at == end, "an event beyond the page's used bytes");
    expect_eq(events, h->events, "the header's number of events");
    expect(events > 0, "a page without an event");
    expect(h->end_clock >= clock, "end_clock is before the last event");
    last_end_ = h->end_clock;
  }

  void check_header(const fkt_page_header* h) {
    expect(h->magic == FKT_PAGE_MAGIC && h->magic_inverse == ~FKT_PAGE_MAGIC, "the page's magic");
    expect_eq(FKT_WIRE_VERSION, h->version, "the page's version");
    expect_eq(FKT_PAGE_HEADER_BYTES, h->header_bytes, "header_bytes");
    expect_eq(options_.page_bytes, h->page_bytes, "page_bytes");
    expect_eq(kRecording, h->recording, "the recording's id");
    expect_eq(next_seq_++, h->seq, "the page's running number");
    expect_eq(0, h->commit, "bytes missing in a page that left");
    expect(h->used > FKT_PAGE_HEADER_BYTES && h->used <= options_.page_bytes && h->used % 8 == 0,
           "the page's used bytes");
    expect_eq(kCpu, h->cpu, "the page's CPU");
    expect_eq(reinterpret_cast<std::uintptr_t>(h) >> 3, h->pfn, "the page's frame number");
    expect_eq(fkt_page_checksum(h), h->checksum, "the page's checksum");
    expect_eq(fkt_events_checksum(h, h + 1), h->events_checksum, "the checksum of its events");
    expect(h->first_clock >= last_end_, "a page begins before the one before it ended");
    expect(h->lost >= last_lost_, "the count of lost events went back");
    last_lost_ = h->lost;
  }

  // Returns the number of words that belong to the event.
  static std::uint32_t check_body(std::uint32_t id, std::uint32_t arg, const std::uint64_t* at,
                                  const std::uint64_t* end) {
    std::uint32_t n = 0;
    switch (id) {
      case FKT_E_SYS_ENTRY:
      case FKT_E_SYS_EXIT:
      case FKT_E_SWITCH_S:
        return 0;
      case FKT_E_FORK:
        n = 1;
        break;
      case FKT_E_TRAP:
        n = 2;
        break;
      case FKT_E_CLOCK:
        n = 3;
        break;
      case FKT_E_EXEC:
        return check_string(arg & FKT_VAR_MASK, at, end);
      default:
        throw Wrong("an unknown event id: " + std::to_string(id));
    }
    expect(at + n <= end, "an event cut by the page's end");
    for (std::uint32_t i = 0; i < n; ++i) expect(at[i] == mix(arg, i), "a torn event");
    return n;
  }

  static std::uint32_t check_string(std::uint32_t n, const std::uint64_t* at,
                                    const std::uint64_t* end) {
    expect(n >= 1 && at + n <= end, "a string cut by the page's end");
    const std::string text(reinterpret_cast<const char*>(at + 1), 8 * (n - 1));
    const std::size_t zeros = text.size() - std::min(text.size(), text.find('\0'));
    expect(zeros < 8, "more padding behind a string than its last word has");
    const char c = letter(static_cast<std::uint32_t>(at[0]));
    expect(text == std::string(text.size() - zeros, c) + std::string(zeros, '\0'), "a torn string");
    return n;
  }

  // Checks that each completed page has woken the drain exactly once.
  void check_wakes() {
    std::vector<std::uint64_t> woken(pages());
    for (const std::uint32_t run : wakes_) {
      const std::uint32_t i = run - options_.start;
      expect(i < woken.size(), "a wake-up for a page that was never drained");
      ++woken[i];
    }
    for (const std::uint64_t n : woken) expect_eq(1, n, "wake-ups for one page");
  }

  // Checks that the drained events are in time order and were attempted, each at most once.
  void check_events() {
    by_clock_.clear();
    for (std::uint32_t i = 0; i < attempts_.size(); ++i) by_clock_.push_back(i);
    std::sort(by_clock_.begin(), by_clock_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return attempts_[a].clock < attempts_[b].clock;
    });
    std::uint64_t before = 0;
    std::size_t next = 0;
    for (const Decoded& e : events_) {
      expect(e.clock > before, "events out of order, or one given twice");
      before = e.clock;
      while (next < by_clock_.size() && attempts_[by_clock_[next]].clock < e.clock) ++next;
      expect(next < by_clock_.size() && attempts_[by_clock_[next]].clock == e.clock,
             "an event with a stamp that nobody read for it");
      Attempt& a = attempts_[by_clock_[next++]];
      expect_eq(a.id, e.id, "the event's id");
      expect_eq(a.arg, e.arg, "the event's argument");
      expect_eq(a.pid, e.pid, "the event's thread");
      a.lost = false;
    }
  }

  // With a clock that was set back: no time is earlier than the one before it, and none is later
  // than the latest reading so far. Events that were not nested have the latest reading as their
  // time.
  void check_stamps() const {
    expect_eq(attempted(), written() + ring_.lost, "events written + lost");
    std::uint64_t before = 0;
    for (const Decoded& e : events_) {
      expect(e.clock >= before, "an event before the one before it");
      expect(e.clock <= latest_, "an event later than the clock ever was");
      before = e.clock;
    }
    for (const Gap& gap : gaps_) expect(gap.from <= gap.end, "a gap that ends before it begins");
    if (nested_ || ring_.lost) return;
    std::uint64_t back = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Attempt& a = attempts_[i];
      expect_eq(a.id, events_[i].id, "the event's id");
      expect_eq(a.latest, events_[i].clock, "the event's stamp");
      back += a.clock < a.latest;
    }
    expect_eq(back, ring_.clock_back, "events counted whose clock had stepped back");
  }

  // Checks that every lost event lies in a gap shown by the trace, and no written event does.
  void check_losses() {
    expect_eq(attempted(), written() + ring_.lost, "events written + lost");
    std::vector<Gap> gaps = gaps_;
    if (fkt_ring_in_gap(ring_.word)) gaps.push_back({ring_.gap_from, ~0ULL, ring_.lost});
    std::size_t g = 0;
    std::uint64_t lost = 0;
    for (const std::uint32_t i : by_clock_) {
      const Attempt& a = attempts_[i];
      while (g < gaps.size() && a.clock >= gaps[g].end) check_gap(gaps[g++], lost);
      const bool inside = g < gaps.size() && a.clock >= gaps[g].from;
      expect(inside || !a.lost, "an event was lost outside every gap");
      expect(!inside || a.lost, "an event was written inside a gap");
      lost += a.lost;
    }
    while (g < gaps.size()) check_gap(gaps[g++], lost);
  }

  // A writer that loses an event may be interrupted before it counts it, and the gap may end
  // meanwhile. Then the next page's header includes it.
  static void check_gap(const Gap& gap, std::uint64_t lost_before_its_end) {
    expect(gap.count <= lost_before_its_end && gap.count + kDepth > lost_before_its_end,
           "the count of a LOST word");
  }

  Options options_;
  fkt_ring ring_{};
  std::vector<fkt_page_header*> slots_;
  std::unique_ptr<std::uint64_t[]> memory_;
  std::vector<fkt_page_header*> held_;  // taken, not put back

  Hook hook_;
  const char* step_name_ = "";
  std::uint64_t clock_;
  std::uint64_t latest_ = 0;
  bool stepped_back_ = false;
  bool nested_ = false;
  std::uint32_t pid_ = 100;
  // Serial numbers of the active writers, the innermost last; kNobody for a close().
  std::vector<std::uint32_t> frames_;
  std::vector<Attempt> attempts_;
  std::vector<std::uint32_t> by_clock_;
  std::vector<std::uint32_t> wakes_;

  // Of the drain.
  std::vector<Decoded> events_;
  std::vector<Gap> gaps_;
  std::uint64_t next_seq_;
  std::uint64_t last_end_ = 0;
  std::uint64_t last_lost_ = 0;
  std::uint64_t time_words_ = 0;
  std::uint64_t pid_words_ = 0;
  std::uint64_t pairs_ = 0, tried_ = 0;
};

// Every reading is different, so that a time identifies its event.
inline unsigned long long ring_clock() {
  RingHarness& h = *RingHarness::active();
  h.step("before_clock");
  const std::uint64_t now = ++h.clock_;
  h.latest_ = std::max(h.latest_, now);
  if (!h.frames_.empty() && h.frames_.back() != RingHarness::kNobody) {
    h.attempts_[h.frames_.back()].clock = now;
    h.attempts_[h.frames_.back()].latest = h.latest_;
  }
  h.step("after_clock");
  return now;
}

inline void ring_wake(const fkt_ring* ring, std::uint32_t run) {
  RingHarness& h = *RingHarness::active();
  expect(ring == &h.ring_, "a wake-up for another ring");
  h.wakes_.push_back(run);
  h.step("in_wake");
}

inline void ring_step(const char* name) {
  RingHarness::active()->step(name);
}

}  // namespace fkt::test
