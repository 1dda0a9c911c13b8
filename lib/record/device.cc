// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/device.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string>

#include <fmt/core.h>

#include "lib/base/os_error.h"
#include "lib/record/machine_checks.h"

namespace fkt {
namespace {

Error about(const std::string& text) {
  return {ErrorCode::io, FKT_DEVICE ": " + text};
}

// Returns 0 or the error number. Repeats interrupted calls: an ioctl that returns EINTR has had no
// effect.
int call(int fd, unsigned long request, void* argument = nullptr) {
  while (::ioctl(fd, request, argument) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

std::string process_name(int pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  return std::getline(file, name) ? name : "a process that is gone";
}

Error other_abi(const std::string& module) {
  return about(
      fmt::format("the ABI of the module that is loaded is {}, this tool's {} (after an upgrade: "
                  "sudo modprobe -r fkt_kft fkt_records fkt_calls fkt; sudo modprobe fkt)",
                  module, FKT_ABI_VERSION));
}

Error open_error(int number) {
  switch (number) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return about("no such device: " + doctor::why_no_device(doctor::this_machine()));
    case EACCES:
    case EPERM:
      return about("permission denied (are you root, or in group fkt?)");
    default:
      return about(os_error(number));
  }
}

}  // namespace

Result<Device> Device::open() {
  UniqueFd fd(::open(FKT_DEVICE, O_RDWR | O_CLOEXEC));
  if (!fd) return open_error(errno);
  std::uint32_t abi = 0;
  if (const int number = call(fd.get(), FKT_GET_ABI, &abi)) {
    return number == ENOTTY ? other_abi("unknown") : about(os_error(number));
  }
  if (abi != FKT_ABI_VERSION) return other_abi(std::to_string(abi));
  return Device(std::move(fd));
}

Error Device::error(const char* doing, int number) const {
  if (number == ENOTTY) return other_abi("another one");
  if (number == EDQUOT) {
    return about(
        "without CAP_PERFMON all CPUs' pages may take a sixteenth of the memory "
        "(try a smaller -p)");
  }
  if (number != EBUSY) return about(std::string(doing) + ": " + os_error(number));
  const Result<fkt_status> now = status();
  if (now && now->state != FKT_IDLE && now->engine == FKT_ENGINE_KFT) {
    const bool waits = (now->flags & FKT_STATUS_WAITS) != 0;
    return about(std::string("busy: a configuration in /proc/kft ") +
                 (waits ? "waits for its begin" : "is recording") +
                 " (to see it: cat /proc/kft; to end it: echo stop >/proc/kft)");
  }
  if (now && now->recorder == 0 && now->state != FKT_IDLE) {
    return about("busy: a process outside this pid namespace is recording");
  }
  if (!now || now->recorder == 0) {
    return about("busy: the last pages of another recording are still being written");
  }
  return about(
      fmt::format("busy: {} (pid {}) is recording", process_name(now->recorder), now->recorder));
}

Error Device::start_error(const fkt_start& start, int number) const {
  switch (number) {
    case EPROTO:
      return other_abi("another one");
    case ENOMEM:
      return about("not enough memory for the pages (try a smaller -p)");
    case ESTALE:
      return about("the module fkt_records was exchanged or unloaded meanwhile");
    case ENXIO:
      return about("a tracepoint of -i has gone with its module");
    case ENOPKG:
      return about("-i needs the module fkt_calls, which is not loaded (modprobe fkt_calls)");
    case E2BIG:
      return about(
          fmt::format("more than {} instructions can only be seen by splices (modprobe "
                      "fkt_splices), and what cannot be spliced counts here",
                      FKT_KPROBES_MOST));
    case EILSEQ:
      return about("the kernel cannot probe this place: no instruction begins there");
    case EINVAL:
      if (refused_place() == 0) return error("starting the recording", number);
      return about("the kernel refuses to probe this place (it handles probes, or is no code)");
    case ENODEV:
      return about("-i needs ftrace, which is off (sysctl kernel.ftrace_enabled=1)");
    case EOPNOTSUPP:
      return about(
          "the output cannot take pages this way (checkin: on ext2, ext3 and ext4, and on older "
          "kernels' block devices)");
    case EUNATCH:
      return about("no module has registered the handler of an instrument (do handler NAME)");
    case ESRCH:
      return about(fmt::format("no process has the pid {}", start.filter_pid));
    case EPERM:
      if (start.instruments != 0) return about("-i takes CAP_SYS_ADMIN (sudo)");
      return about("the kernel is locked down (confidentiality) and does not allow tracing");
    case EACCES:
      if (start.filter != FKT_FILTER_PROCESS) return about("this takes CAP_PERFMON (see fkt(4))");
      return about(
          fmt::format("process {} may not be recorded: it is another user's, or runs a program "
                      "with other privileges (to record it takes CAP_PERFMON: sudo)",
                      start.filter_pid));
    default:
      return error("starting the recording", number);
  }
}

std::uint64_t Device::refused_place() const {
  __u64 address = 0;
  return call(fd_.get(), FKT_REFUSED, &address) == 0 ? address : 0;
}

Status Device::set_pow_pages(std::uint32_t pow) {
  const int number = call(fd_.get(), FKT_SETINITPOWPAGES, &pow);
  if (number == 0) return Done{};
  return number == ENOMEM ? about("not enough memory for the pages (try a smaller -p)")
                          : error("setting the number of pages", number);
}

Status Device::free_buffer() {
  const int number = call(fd_.get(), FKT_FREEBUFFER);
  return number == 0 ? Status(Done{}) : error("freeing the pages", number);
}

Status Device::start(const fkt_start& start) {
  fkt_start argument = start;
  const int number = call(fd_.get(), FKT_START, &argument);
  return number == 0 ? Status(Done{}) : start_error(start, number);
}

Result<fkt_hit_counts> Device::hit_counts(std::uint32_t instrument, std::uint32_t cpu) const {
  fkt_hit_counts counts{};
  counts.instrument = instrument;
  counts.cpu = cpu;
  const int number = call(fd_.get(), FKT_HIT_COUNTS, &counts);
  return number == 0 ? Result<fkt_hit_counts>(counts) : error("counts of hits", number);
}

Result<std::vector<fkt_hit_counts>> Device::hit_counts_by_cpu(std::uint32_t instrument) const {
  const auto status = FKT_TRY(this->status());
  std::vector<fkt_hit_counts> list;
  for (std::uint32_t cpu = 0; cpu < status.cpus; cpu++) {
    fkt_hit_counts counts{};
    counts.instrument = instrument;
    counts.cpu = cpu;
    const int number = call(fd_.get(), FKT_HIT_COUNTS, &counts);
    // Numbers of CPUs may have holes.
    if (number == ENXIO && cpu > 0) continue;
    if (number != 0) return error("counts of hits", number);
    if (counts.kept != 0 || counts.dropped != 0 ||
        std::ranges::any_of(counts.missed, [](std::uint64_t missed) { return missed != 0; })) {
      list.push_back(counts);
    }
  }
  return list;
}

Result<std::string> Device::module_probes() const {
  std::string text(1 << 14, '\0');
  for (;;) {
    fkt_probe_list list{};
    list.text = reinterpret_cast<std::uintptr_t>(text.data());
    list.bytes = static_cast<__u32>(text.size());
    const int number = call(fd_.get(), FKT_MODULE_PROBES, &list);
    if (number != 0 && number != ERANGE) return error("the modules' probes", number);
    // The list may grow between two calls, when a module is loaded.
    text.resize(list.used);
    if (number == 0) return text;
  }
}

Result<std::vector<fkt_histogram_row>> Device::histogram(std::uint32_t instrument) const {
  std::map<std::array<__u64, FKT_HISTOGRAM_KEY_WORDS>, fkt_histogram_row> by_key;
  std::vector<fkt_histogram_row> part(FKT_RESULTS_ROWS);
  fkt_results results{};
  results.instrument = instrument;
  do {
    results.rows = reinterpret_cast<std::uintptr_t>(part.data());
    results.count = FKT_RESULTS_ROWS;
    const int number = call(fd_.get(), FKT_RESULTS, &results);
    if (number != 0) return error("a histogram", number);
    for (const fkt_histogram_row& row : std::span(part).first(results.count)) {
      fkt_histogram_row& sum = by_key[std::to_array(row.key)];
      std::ranges::copy(row.key, sum.key);
      sum.sum += row.sum;
      for (std::size_t i = 0; i < FKT_HISTOGRAM_BUCKETS; i++) sum.counts[i] += row.counts[i];
    }
  } while (results.count > 0);
  std::vector<fkt_histogram_row> rows;
  for (const auto& [key, row] : by_key) rows.push_back(row);
  return rows;
}

Result<std::uint32_t> Device::exchange(const fkt_instruments& instruments, std::string_view lines) {
  fkt_exchange argument{};
  argument.instruments = reinterpret_cast<std::uintptr_t>(&instruments);
  argument.lines = reinterpret_cast<std::uintptr_t>(lines.data());
  argument.line_bytes = static_cast<__u32>(lines.size());
  const int number = call(fd_.get(), FKT_EXCHANGE, &argument);
  if (number == 0) return std::uint32_t{argument.table};
  if (number == ENODATA) return about("the recording has ended");
  if (number == ENOBUFS) return about("no page was free for the names of the new instruments");
  if (number == EOPNOTSUPP) {
    return about(
        "functions with return probes (fkt_record -v says which) cannot be exchanged for others");
  }
  fkt_start start{};
  start.instruments = argument.instruments;
  return start_error(start, number);
}

Result<TracepointRecord> Device::point_record(const std::string& tracepoint) const {
  TracepointRecord record;
  record.fields.resize(FKT_RECORD_FIELDS);
  fkt_point_record asked{};
  if (tracepoint.size() >= sizeof asked.name) return Error{ErrorCode::io, "its name is too long"};
  std::ranges::copy(tracepoint, std::begin(asked.name));
  asked.fields = reinterpret_cast<std::uintptr_t>(record.fields.data());
  const int number = call(fd_.get(), FKT_POINT_RECORD, &asked);
  if (number == ENOENT) {
    return Error{ErrorCode::io, "fkt_records does not have it"};
  }
  if (number == ENOPKG) return Error{ErrorCode::absent, "there is no module fkt_records"};
  if (number == EPROTO) {
    return Error{ErrorCode::absent, "the module fkt_records that is loaded is of another version"};
  }
  if (number != 0) return error("its record", number);
  record.fields.resize(asked.count);
  record.bytes = asked.bytes;
  return record;
}

Status Device::stop() {
  const int number = call(fd_.get(), FKT_STOP);
  return number == 0 ? Status(Done{}) : error("stopping the recording", number);
}

Result<std::optional<fkt_fired>> Device::fired() {
  fkt_fired fired{};
  const int number = call(fd_.get(), FKT_FIRED, &fired);
  if (number == EAGAIN) return std::optional<fkt_fired>();
  if (number != 0) return error("its condition", number);
  return std::optional(fired);
}

Status Device::flight(fkt_flight_step step) {
  __u32 argument = step;
  const int number = call(fd_.get(), FKT_FLIGHT, &argument);
  if (number == ENODATA) return about("the recording has ended");
  return number == 0 ? Status(Done{}) : error("a snapshot of its pages", number);
}

Result<bool> Device::change_mask(unsigned long request, std::uint64_t mask) {
  const int number = call(fd_.get(), request, &mask);
  if (number == ENODATA) return false;
  if (number == EPERM) {
    return about("the recording is another user's: to change its layers takes CAP_PERFMON (sudo)");
  }
  if (number == ENXIO) {
    return about("the recording has no instruments of one of these layers (fkt_record --also)");
  }
  if (number == EBUSY) {
    return about(
        "the recording has not begun yet: it waits for the hit of an instrument (do start)");
  }
  return number == 0 ? Result<bool>(true) : error("setting the mask", number);
}

Result<bool> Device::enable(std::uint64_t mask) {
  return change_mask(FKT_ENABLE, mask);
}
Result<bool> Device::disable(std::uint64_t mask) {
  return change_mask(FKT_DISABLE, mask);
}
Result<bool> Device::set_mask(std::uint64_t mask) {
  return change_mask(FKT_SETMASK, mask);
}

bool Device::index(std::uint64_t first, std::span<fkt_index_entry> entries) const {
  fkt_index index{};
  index.first = first;
  index.entries = reinterpret_cast<std::uintptr_t>(entries.data());
  index.count = static_cast<__u32>(entries.size());
  return call(fd_.get(), FKT_INDEX, &index) == 0;
}

Result<fkt_status> Device::status() const {
  fkt_status status{};
  const int number = call(fd_.get(), FKT_STATUS, &status);
  return number == 0 ? Result<fkt_status>(status) : error("its status", number);
}

Result<fkt_cpu_status> Device::cpu_status(std::uint32_t cpu) const {
  fkt_cpu_status status{};
  status.cpu = cpu;
  const int number = call(fd_.get(), FKT_CPU_STATUS, &status);
  return number == 0 ? Result<fkt_cpu_status>(status) : about(os_error(number));
}

std::uint32_t Device::number_of(int device, std::uint32_t tid) {
  __u32 number = tid;
  return call(device, FKT_PID, &number) == 0 ? number : 0;
}

Result<fkt_clocks> Device::clocks(fkt_clock_source source) const {
  fkt_clocks clocks{};
  clocks.clock = source;
  const int number = call(fd_.get(), FKT_CLOCKS, &clocks);
  return number == 0 ? Result<fkt_clocks>(clocks) : about(os_error(number));
}

}  // namespace fkt
