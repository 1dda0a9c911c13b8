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

// Layout of the record that fkt_records makes of a tracepoint's arguments.
struct TracepointRecord {
  std::vector<fkt_record_field> fields;
  std::uint32_t bytes = 0;  // size of a record
};

class Device {
 public:
  // Opens the device and checks that the module has this tool's FKT_ABI_VERSION. Error (io): there
  // is no device, it must not be opened, or the module has another version.
  static Result<Device> open();

  int fd() const { return fd_.get(); }

  // Sets the number of 4 KiB pages per CPU to 2^pow for recordings of this open device. Error: not
  // enough memory, or a recording is running.
  Status set_pow_pages(std::uint32_t pow);
  // Frees the pages that the module keeps between recordings. Error: a recording is running.
  Status free_buffer();
  // Starts a recording. Error (io): the module's refusal as a line for the user.
  Status start(const fkt_start& start);
  // Returns the address of the function or instruction that the kernel refused to probe, which made
  // start() fail; 0: it failed for another reason.
  std::uint64_t refused_place() const;
  // Stops the recording of this open device.
  Status stop();
  // Takes a step of a flight recorder's snapshot. Error (io): also if the recording has ended.
  Status flight(fkt_flight_step step);

  // Returns the first time that the condition became true since the last call; nothing if
  // it did not.
  Result<std::optional<fkt_fired>> fired();

  // Add layers to the recorded ones, remove layers from them, and replace them. mask: a bit per
  // layer. Return false if nothing is being recorded. Error (io): the recording is another user's,
  // has no instruments of a layer, or has not begun yet.
  Result<bool> enable(std::uint64_t mask);
  Result<bool> disable(std::uint64_t mask);
  Result<bool> set_mask(std::uint64_t mask);

  // Fills `entries` with the index entries of the last pages that the kernel has written, after the
  // first `first` ones. Call after stop(). Returns false if the kernel no longer has all of them.
  bool index(std::uint64_t first, std::span<fkt_index_entry> entries) const;

  // Returns the counts of hits of the instrument with this number, in the recording of this open
  // device. cpu: number of a possible CPU; FKT_ALL_CPUS: all together.
  Result<fkt_hit_counts> hit_counts(std::uint32_t instrument,
                                    std::uint32_t cpu = FKT_ALL_CPUS) const;
  // Returns an instrument's counts for each possible CPU on which it had hits, ascending by CPU.
  Result<std::vector<fkt_hit_counts>> hit_counts_by_cpu(std::uint32_t instrument) const;
  // Returns the probes of the loaded modules, as FKT_MODULE_PROBES lists them.
  Result<std::string> module_probes() const;

  // Returns the rows of the instrument's histogram, one for each key. Works during a recording and
  // after it, for any open device.
  Result<std::vector<fkt_histogram_row>> histogram(std::uint32_t instrument) const;

  // Replaces the recording's table of instruments (FKT_EXCHANGE). lines: for the catalogue. Returns
  // the new table's number in the recording. Error: the old table stays in use.
  Result<std::uint32_t> exchange(const fkt_instruments& instruments, std::string_view lines);

  // Returns the layout of the record that fkt_records makes of this tracepoint's arguments. Error
  // (io): it makes none of this tracepoint; (absent): fkt_records is not loaded, or is of another
  // version.
  Result<TracepointRecord> point_record(const std::string& tracepoint) const;

  // Return the state of the module and of the recording; that of one CPU; and the values of all
  // clocks at one moment.
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
