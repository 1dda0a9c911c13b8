// SPDX-License-Identifier: GPL-2.0-only
// The module's device /dev/fkt with its ioctls; each error becomes one clear line.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fkt/file.h>
#include <fkt/ioctl.h>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt {

// What the module makes of a tracepoint's arguments.
struct TracepointRecord {
  std::vector<fkt_record_field> fields;
  std::uint32_t bytes = 0;  // that each record has
};

// What to do about a module that is not there, behind what is missing.
inline constexpr const char* kModuleRemedy =
    " (is the module loaded? fkt_doctor says what to type)";

class Device {
 public:
  // Opens the device and checks that module and tool have the same ABI.
  static Result<Device> open();

  int fd() const { return fd_.get(); }

  // Sets the number of 4 KiB pages per CPU to 2^pow for recordings of this open device. Error: not
  // enough memory, or a recording is running.
  Status set_pow_pages(std::uint32_t pow);
  // Frees the pages that the module keeps between recordings. Error: a recording is running.
  Status free_buffer();
  Status start(const fkt_start& start);
  // Returns the address of the function or instruction that the kernel refused to probe, which made
  // start() fail; 0: it failed for another reason.
  std::uint64_t refused_place() const;
  Status stop();
  // A step of a flight recorder's snapshot. Error also if the recording has ended.
  Status flight(fkt_flight_step step);

  // Returns the first time that the condition became true since the last call; nothing if
  // it did not.
  Result<std::optional<fkt_fired>> fired();

  // Return false if nothing is being recorded. mask: a bit per layer.
  Result<bool> enable(std::uint64_t mask);
  Result<bool> disable(std::uint64_t mask);
  Result<bool> set_mask(std::uint64_t mask);

  // Fills `entries` with the index entries of the last pages that the kernel has written, after the
  // first `first` ones. Call after stop(). Returns false if the kernel no longer has all of them.
  bool index(std::uint64_t first, std::span<fkt_index_entry> entries) const;

  // Of the instrument with this number, in the recording of this open device. cpu: number of a
  // possible CPU; FKT_ALL_CPUS: all together.
  Result<fkt_hit_counts> hit_counts(std::uint32_t instrument,
                                    std::uint32_t cpu = FKT_ALL_CPUS) const;
  // Returns an instrument's counts for each possible CPU on which it had hits, ascending by CPU.
  Result<std::vector<fkt_hit_counts>> hit_counts_by_cpu(std::uint32_t instrument) const;
  // The probes of the loaded modules, as FKT_MODULE_PROBES lists them.
  Result<std::string> module_probes() const;

  // The rows of its histogram, one for each key; also while it is recorded, by any device.
  Result<std::vector<fkt_histogram_row>> histogram(std::uint32_t instrument) const;

  // Puts another table of instruments into force (FKT_EXCHANGE). lines: for the catalogue. Returns
  // its number in the recording. Error: the table before stays in force.
  Result<std::uint32_t> exchange(const fkt_instruments& instruments, std::string_view lines);

  // The record that the module makes of this tracepoint's arguments. Error: none, and why;
  // (absent): the module makes none of any tracepoint.
  Result<TracepointRecord> point_record(const std::string& tracepoint) const;

  // State of the module and of the recording; of one CPU; and a reading of all clocks at one
  // moment.
  Result<fkt_status> status() const;
  Result<fkt_cpu_status> cpu_status(std::uint32_t cpu) const;
  Result<fkt_clocks> clocks(fkt_clock_source source) const;

  // Returns the number by which recordings know a thread of this pid namespace; 0: there is no such
  // thread. device: the fd of an open Device.
  static std::uint32_t number_of(int device, std::uint32_t tid);

 private:
  explicit Device(UniqueFd fd) : fd_(std::move(fd)) {}
  Error error(const char* doing, int number) const;
  Error start_error(const fkt_start& start, int number) const;
  Result<bool> change_mask(unsigned long request, std::uint64_t mask);

  UniqueFd fd_;
};

}  // namespace fkt
