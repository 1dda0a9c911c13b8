// SPDX-License-Identifier: GPL-2.0-only
// What on a machine may stand in the way of recording, and what to type about it. The checks read
// files below a root folder, so that tests can make a machine of files.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fkt::doctor {

enum class Verdict : std::uint8_t {
  good,
  note,     // it can record, but something else than one may expect
  blocked,  // it cannot record
};

struct Finding {
  Verdict verdict = Verdict::good;
  std::string what;    // "kernel headers": two words at most
  std::string found;   // what is so
  std::string remedy;  // what to type or do; empty: nothing
};

struct Machine {
  std::filesystem::path root = "/";
  std::string release;        // of the running kernel
  std::filesystem::path out;  // folder that recordings are written to
  bool is_root = false;       // root asks
};

// The kernels that FKT is made and tested for (README, Limits).
inline constexpr std::array<std::string_view, 2> kKernels = {"6.1", "6.12"};

// The checks, each of one thing: kernel, module or headers, Secure Boot and lockdown, device and
// permissions, clock, other tracers, types (BTF) for instruments.
std::vector<Finding> check_machine(const Machine& machine);

// Measures how fast the folder takes data (bytes/s), by writing `bytes` to a file without a name,
// past the page cache where it can. Returns 0 if nothing can be written there.
double disk_speed(const std::filesystem::path& folder, std::uint64_t bytes);
// What that speed allows: events/s, by how many bytes events take on average.
Finding judge_speed(const std::filesystem::path& folder, double bytes_per_second,
                    std::uint64_t free_bytes);

}  // namespace fkt::doctor
