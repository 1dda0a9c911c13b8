// SPDX-License-Identifier: GPL-2.0-only
// synthesize EVENTS FILE [CPUS [FUNCTIONS]]: writes a recording of about EVENTS events in one pass
// with little memory. Prints as JSON what a reader must find in it; the generator counts on its
// own, not with the reader's code.
//
// On each CPU eight tasks run in turn. They make short calls and one read that sleeps until an
// interrupt wakes the task; sometimes there is a timer interrupt, an idle CPU, or a short-lived
// child. With FUNCTIONS, some of the short calls are of so many kernel functions, in turn, one in
// another.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fkt/call_event.h>
#include <fkt/events.h>
#include <fkt/file.h>

#include "lib/base/unique_fd.h"
#include "lib/base/write_file.h"
#include "lib/format/catalogue.h"
#include "lib/format/file_writer.h"

namespace {

constexpr std::uint64_t kRecording = 0x5eed5eed5eed5eed;
constexpr std::uint64_t kStart = 1'000'000'000;   // ticks of 1 ns
constexpr std::uint64_t kSlot = 10'000'000;       // ticks; events are also counted per slot
constexpr std::uint64_t kMostApart = 20'000'000;  // ticks between two events of a CPU
constexpr std::uint32_t kPageBytes = 65536;
constexpr std::uint32_t kTasks = 8;  // per CPU
constexpr std::uint32_t kDisk = 14, kTimer = 0xec, kClone = 56, kRead = 0;
constexpr std::uint64_t kForkEvery = 1000;  // turns
constexpr std::array<std::uint32_t, 6> kQuick = {1, 3, 9, 39, 72, 257};
constexpr std::string_view kSyscalls =
    "64\t0\tread\n64\t1\twrite\n64\t3\tclose\n64\t9\tmmap\n64\t39\tgetpid\n64\t56\tclone\n"
    "64\t72\tfcntl\n64\t257\topenat\n";

struct Tally {
  std::uint64_t count = 0, ticks = 0, longest = 0;
  void add(std::uint64_t length) {
    count++;
    ticks += length;
    longest = std::max(longest, length);
  }
};

// Written by all CPUs: the pages of the file, and the expected results.
struct Output {
  int fd = -1;
  std::uint64_t at = 0, events = 0;  // at: offset of the next page
  bool failed = false;
  std::vector<fkt_index_entry> index;
  std::map<std::uint32_t, Tally> calls;  // complete system calls, by number
  std::uint32_t functions = 0;           // of the kernel, whose calls are recorded too
  Tally function_calls;
  Tally disk, timer;
  std::array<std::uint64_t, 1 << FKT_ID_BITS> by_id{};
  std::vector<std::uint64_t> slots;
  std::uint64_t forks = 0;
};

class Cpu {
 public:
  Cpu(std::uint32_t number, Output& out)
      : out_(out), number_(number), random_(0x9e3779b97f4a7c15 * (number + 1)) {
    page_.resize(kPageBytes);
  }
  std::uint64_t clock() const { return clock_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t pages() const { return seq_; }

  // Simulates one task until the CPU switches to another one.
  void turn() {
    turns_++;
    const std::uint64_t quick = 1 + below(12);
    for (std::uint64_t i = 0; i < quick; i++) call(kQuick[below(kQuick.size())], 60 + below(900));
    if (below(4) == 0) timer();
    if (turns_ % kForkEvery == 0) child();
    const std::uint32_t next = (running_ + 1) % kTasks;
    event(100 + below(300), FKT_E_SYS_ENTRY, kRead);
    in_read_[running_] = clock_;
    if (below(6) == 0) {
      event(150, FKT_E_SWITCH_S, 0);
      clock_ += below(below(50) == 0 ? kMostApart / 2 : 30'000);
      disk(next);
      event(90, FKT_E_SWITCH_R, tid(next));
    } else {
      disk(next);
      event(120, FKT_E_SWITCH_S, tid(next));
    }
    running_ = next;
    if (in_read_[next] == 0) return;  // its first turn
    event(80, FKT_E_SYS_EXIT, 512);
    out_.calls[kRead].add(clock_ - in_read_[next]);
    in_read_[next] = 0;
  }

  void close_page() {
    if (used_ == 0) return;
    fkt_page_header h{};
    h.magic = FKT_PAGE_MAGIC;
    h.magic_inverse = ~FKT_PAGE_MAGIC;
    h.version = FKT_WIRE_VERSION;
    h.header_bytes = FKT_PAGE_HEADER_BYTES;
    h.page_bytes = kPageBytes;
    h.recording = kRecording;
    h.seq = seq_++;
    h.events = in_page_;
    h.used = used_;
    h.cpu = number_;
    h.first_clock = first_;
    h.end_clock = last_;
    h.pid = page_pid_;
    h.events_checksum = fkt_events_checksum(&h, page_.data() + sizeof h);
    h.checksum = fkt_page_checksum(&h);
    std::memcpy(page_.data(), &h, sizeof h);
    const auto written = fkt::write_at(out_.fd, page_, out_.at, "pages");
    out_.failed = out_.failed || !written;
    out_.at += kPageBytes;
    out_.index.push_back({h.first_clock, h.end_clock, h.seq, number_, h.events});
    used_ = 0;
  }

 private:
  std::uint64_t below(std::uint64_t limit) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_ % limit;
  }
  std::uint32_t tid(std::uint32_t task) const { return 1000 + number_ * kTasks + task; }

  void call(std::uint32_t number, std::uint64_t length) {
    const std::uint64_t later = 40 + below(200);
    if (number == 9 && below(8) == 0) {
      event(later, FKT_E_SYS_ENTRY, number);
      event(30, FKT_E_FAULT_USER, 4, {0x7f0000000000 + below(1 << 20) * 4096, 0x401000});
      event(length, FKT_E_SYS_EXIT, 0);
      out_.calls[number].add(length + 30);
    } else if (out_.functions > 0 && number == 72) {
      event(later, FKT_E_SYS_ENTRY, number);
      out_.calls[number].add(functions(length) + 25);
      event(25, FKT_E_SYS_EXIT, 0);
    } else {
      pair(later, FKT_P_SYSCALL + number, length, FKT_E_SYS_ENTRY, FKT_E_SYS_EXIT);
      out_.calls[number].add(length);
    }
  }

  // Two functions, the second in the first, which calls one of eight. Returns the ticks that
  // passed.
  std::uint64_t functions(std::uint64_t length) {
    const std::uint64_t begin = clock_, inner = begin + 10, ticks = 12 + below(length);
    const std::uint64_t outer = below(out_.functions);
    called((outer * 7 + below(8)) % out_.functions, ticks + 10, inner, ticks);
    called(outer, 20, begin + 5, ticks + 20);
    return clock_ - begin;
  }

  // later: of the return's event, which is written when the function returns.
  void called(std::uint64_t function, std::uint64_t later, std::uint64_t begin,
              std::uint64_t ticks) {
    event(later, FKT_E_CALL, static_cast<std::uint32_t>(function), {fkt_call_word(begin, ticks)});
    out_.function_calls.add(ticks);
  }

  void timer() {
    const std::uint64_t length = 60 + below(500);
    pair(50 + below(100), FKT_P_VECTOR + kTimer, length, FKT_E_VECTOR_ENTRY, FKT_E_VECTOR_EXIT);
    out_.timer.add(length);
  }

  void disk(std::uint32_t wakes) {
    event(50 + below(100), FKT_E_IRQ_ENTRY, kDisk);
    const std::uint64_t begin = clock_;
    event(40, FKT_E_WAKING, tid(wakes));
    event(15, FKT_E_WAKEUP, tid(wakes), {number_});
    event(60 + below(500), FKT_E_IRQ_EXIT, kDisk | 1 << 22);
    out_.disk.add(clock_ - begin);
  }

  // Forks in sys_clone and runs the child until it has exited.
  void child() {
    const std::uint32_t parent = tid(running_);
    const std::uint32_t child =
        10'000 + number_ * 2'000 + static_cast<std::uint32_t>(turns_ / kForkEvery % 2'000);
    out_.forks++;
    event(50, FKT_E_SYS_ENTRY, kClone);
    const std::uint64_t begin = clock_;
    event(400, FKT_E_FORK, child, {child | std::uint64_t{parent} << 32});
    event(60, FKT_E_WAKEUP_NEW, child, {number_});
    event(60, FKT_E_SYS_EXIT, child);
    out_.calls[kClone].add(clock_ - begin);
    event(70, FKT_E_SWITCH_PREEMPT, child);
    event(90, FKT_E_SYS_EXIT, 0);  // the return of fork in the child
    call(39, 100);
    event(90, FKT_E_EXIT, 0, {child | std::uint64_t{child} << 32});
    event(70, FKT_E_SWITCH_Z, parent);
    event(70, FKT_E_PID_FREE, child);
  }

  void event(std::uint64_t later, std::uint32_t id, std::uint32_t arg,
             std::initializer_list<std::uint64_t> words = {}) {
    clock_ += later;
    make_room(1 + words.size());
    put(fkt_word(clock_, id, arg));
    for (const std::uint64_t word : words) put(word);
    count(id);
    if (id >= FKT_E_SWITCH_R && id <= FKT_E_SWITCH_PREEMPT) pid_ = arg & FKT_PID_MASK;
  }

  // Writes a begin and an end with no event between as one word.
  void pair(std::uint64_t later, std::uint32_t id, std::uint64_t length, std::uint32_t begin,
            std::uint32_t end) {
    clock_ += later;
    make_room(1);
    put(fkt_word(clock_, id, fkt_pair_arg(length, 0)));
    count(begin);
    clock_ += length;
    count(end);
  }

  void make_room(std::size_t words) {
    if (used_ + 8 * words > kPageBytes) close_page();
    if (used_ != 0) return;
    used_ = FKT_PAGE_HEADER_BYTES;
    in_page_ = 0;
    first_ = clock_;
    page_pid_ = pid_;
  }

  void count(std::uint32_t id) {
    in_page_++;
    events_++;
    last_ = clock_;
    out_.events++;
    out_.by_id[id]++;
    const std::uint64_t slot = (clock_ - kStart) / kSlot;
    if (slot >= out_.slots.size()) out_.slots.resize(slot + 1);
    out_.slots[slot]++;
  }

  void put(std::uint64_t word) {
    std::memcpy(page_.data() + used_, &word, sizeof word);
    used_ += sizeof word;
  }

  Output& out_;
  std::uint32_t number_;
  std::uint64_t random_;
  std::vector<std::byte> page_;
  std::uint32_t used_ = 0, in_page_ = 0;  // of the open page; 0: none is open
  std::uint32_t pid_ = 1000 + number_ * kTasks, page_pid_ = 0;
  std::uint64_t clock_ = kStart, first_ = 0, last_ = 0, seq_ = 0, events_ = 0, turns_ = 0;
  std::uint32_t running_ = 0;
  std::array<std::uint64_t, kTasks> in_read_{};  // clock of the entry to read; 0: not in read
};

std::string clock_pair(std::uint64_t clock) {
  const std::string ns = std::to_string(clock);
  return R"({"clock":)" + ns + R"(,"mono_raw_ns":)" + ns + R"(,"mono_ns":)" + ns +
         R"(,"real_ns":)" + std::to_string(1'000'000'000'000'000'000 + clock) + "}";
}

std::string catalogue(std::uint32_t functions) {
  std::string lines = fkt::Catalogue::builtin().to_lines();
  for (std::uint32_t i = 0; i < functions; i++) {
    const std::string number = std::to_string(i);
    lines += "name\tfunction\t" + number + "\tsynthetic_function_" + number + '\n';
  }
  return lines;
}

fkt::Status add_head(fkt::Sections& head, std::uint32_t cpus, std::uint32_t functions) {
  std::string tasks = "1\t1\t0\tinit\n2\t2\t0\tkthreadd\n10\t10\t1\tfkt_record\n";
  for (std::uint32_t task = 0; task < cpus * kTasks; task++) {
    const std::string tid = std::to_string(1000 + task);
    tasks += tid + '\t' + tid + "\t1\twork" + std::to_string(task) + '\n';
  }
  const std::pair<fkt_section, std::string> sections[] = {
      {FKT_SEC_MACHINE,
       R"({"sysname":"Linux","nodename":"synthetic","release":"6.1.0","version":"#1",)"
       R"("machine":"x86_64","cpu_model":"synthetic","tool_version":"test","cpus":)" +
           std::to_string(cpus) + "}"},
      {FKT_SEC_COMMAND,
       R"({"recorder_pid":10,"workload_pid":1000,"command":["synthetic"],"mask":1025,)"
       R"("args":false,"filter":"none","filter_pid":0})"},
      {FKT_SEC_CLOCKS,
       R"({"source":"mono","khz":1000000,"zone":0,"start":)" + clock_pair(kStart) + "}"},
      {FKT_SEC_TASKS, tasks},
      {FKT_SEC_INTERRUPTS, "14\tata_piix\t7\n"},
      {FKT_SEC_CATALOGUE, catalogue(functions)},
      {FKT_SEC_SYSCALLS, std::string(kSyscalls)}};
  for (const auto& [type, text] : sections) {
    const fkt::Status added = head.add(type, text);
    if (!added) return added;
  }
  return fkt::Done{};
}

std::string totals(const Output& out, const std::vector<Cpu>& cpus, std::uint64_t end) {
  std::string per_cpu;
  for (std::size_t cpu = 0; cpu < cpus.size(); cpu++) {
    per_cpu += (cpu == 0 ? "" : ",") + std::string(R"({"cpu":)") + std::to_string(cpu) +
               R"(,"events":)" + std::to_string(cpus[cpu].events()) +
               R"(,"lost":0,"discarded":0,"pages":)" + std::to_string(cpus[cpu].pages()) +
               R"(,"gap_from":0,"gap_lost":0})";
  }
  return R"({"start_clock":)" + std::to_string(kStart) + R"(,"stop_clock":)" + std::to_string(end) +
         R"(,"events":)" + std::to_string(out.events) + R"(,"lost":0,"discarded":0,"pages":)" +
         std::to_string(out.index.size()) + R"(,"bytes":)" +
         std::to_string(out.index.size() * kPageBytes) +
         R"(,"stop_reason":"asked","error":0,"drain_ns":0,"workload_status":0,"end":)" +
         clock_pair(end) + R"(,"per_cpu":[)" + per_cpu + "]}";
}

void say_tally(const char* before, std::string_view name, const Tally& tally) {
  std::printf(
      "%s\n  \"%.*s\": {\"count\": %llu, \"ticks\": %llu, \"longest\": %llu}", before,
      static_cast<int>(name.size()), name.data(), static_cast<unsigned long long>(tally.count),
      static_cast<unsigned long long>(tally.ticks), static_cast<unsigned long long>(tally.longest));
}

std::string syscall_name(std::uint32_t number) {
  const std::string start = "64\t" + std::to_string(number) + '\t';
  const std::size_t at = kSyscalls.find(start) + start.size();
  return "sys_" + std::string(kSyscalls.substr(at, kSyscalls.find('\n', at) - at));
}

void say_counts(const Output& out, std::uint64_t end) {
  std::printf("{\"events\": %llu, \"pages\": %zu, \"ticks\": %llu, \"forks\": %llu,\n\"calls\": {",
              static_cast<unsigned long long>(out.events), out.index.size(),
              static_cast<unsigned long long>(end - kStart),
              static_cast<unsigned long long>(out.forks));
  const char* before = "";
  for (const auto& [number, tally] : out.calls) {
    say_tally(std::exchange(before, ","), syscall_name(number), tally);
  }
  std::printf("},\n\"interrupts\": {");
  say_tally("", "irq 14 ata_piix", out.disk);
  say_tally(",", "vector local_timer", out.timer);
  if (out.functions > 0) {
    std::printf("},\n\"functions\": {");
    say_tally("", "all", out.function_calls);
  }
  std::printf("},\n\"ids\": {");
  before = "";
  for (std::size_t id = 0; id < out.by_id.size(); id++) {
    if (out.by_id[id] == 0) continue;
    std::printf("%s\"%04zx\": %llu", std::exchange(before, ", "), id,
                static_cast<unsigned long long>(out.by_id[id]));
  }
  std::printf("},\n\"slot_ticks\": %llu, \"slots\": [", static_cast<unsigned long long>(kSlot));
  before = "";
  for (const std::uint64_t slot : out.slots) {
    std::printf("%s%llu", std::exchange(before, ","), static_cast<unsigned long long>(slot));
  }
  std::printf("]}\n");
}

fkt::Status synthesize(std::uint64_t events, const std::string& path, std::uint32_t cpu_count,
                       std::uint32_t functions) {
  const fkt::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  fkt::Sections head, tail;
  fkt::Status done = add_head(head, cpu_count, functions);
  if (!done) return done;
  const std::string start = fkt::file_head(kRecording, kPageBytes, head);
  Output out;
  out.fd = fd.get();
  out.functions = functions;
  out.at = start.size();
  done = fkt::write_at(fd.get(), fkt::as_bytes(start), 0, path);
  if (!done) return done;
  std::vector<Cpu> cpus;
  for (std::uint32_t cpu = 0; cpu < cpu_count; cpu++) cpus.emplace_back(cpu, out);
  while (out.events < events && !out.failed) {
    std::ranges::min_element(cpus, {}, &Cpu::clock)->turn();
  }
  for (Cpu& cpu : cpus) cpu.close_page();
  const std::uint64_t end = std::ranges::max_element(cpus, {}, &Cpu::clock)->clock();
  const std::string_view index(reinterpret_cast<const char*>(out.index.data()),
                               out.index.size() * sizeof out.index[0]);
  for (const auto& [type, text] : {std::pair{FKT_SEC_TOTALS, totals(out, cpus, end)},
                                   std::pair{FKT_SEC_INDEX, std::string(index)}}) {
    done = tail.add(type, text);
    if (!done) return done;
  }
  done = fkt::write_tail(fd.get(), out.at, tail, path);
  if (!done) return done;
  if (out.failed) return fkt::Error{fkt::ErrorCode::io, path + ": cannot be written"};
  say_counts(out, end);
  return done;
}

bool whole(std::string_view text, std::uint64_t most, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out > 0 && out <= most;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t events = 0, cpus = 4, functions = 0;
  if (argc < 3 || argc > 5 || !whole(argv[1], 1'000'000'000'000, events) ||
      (argc >= 4 && !whole(argv[3], 256, cpus)) ||
      (argc == 5 && !whole(argv[4], 1 << FKT_ARG_BITS, functions))) {
    std::fprintf(stderr, "usage: synthesize EVENTS FILE [CPUS [FUNCTIONS]]\n");
    return 2;
  }
  const fkt::Status done = synthesize(events, argv[2], static_cast<std::uint32_t>(cpus),
                                      static_cast<std::uint32_t>(functions));
  if (done) return 0;
  std::fprintf(stderr, "synthesize: %s\n", done.error().message.c_str());
  return 1;
}
