// SPDX-License-Identifier: GPL-2.0-only
// Finds what on a machine may prevent recording, and the command that helps: for fkt_doctor, and
// for the line of a tool that finds no device. The checks read files below a root folder, so that
// tests can make a machine of files.
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
  std::string found;   // the state that was found
  std::string remedy;  // command or action; empty: none is needed
};

struct Machine {
  std::filesystem::path root = "/";
  std::string release;        // of the running kernel
  std::filesystem::path out;  // folder that recordings are written to
  bool is_root = false;       // the user is root
};

// The kernels that FKT is tested on (README, Limits); the first one is the oldest that it builds
// for.
inline constexpr std::array<std::string_view, 3> kKernels = {"6.1", "6.12", "7.3"};

// Returns one finding per check: kernel, its options, module or headers, Secure Boot and lockdown,
// device and permissions, clock, other tracers, types (BTF) for instruments; and one more each if
// the loaded module cannot record something on this kernel, and if calls that were traced have not
// returned, so that fkt_calls cannot be unloaded.
std::vector<Finding> check_machine(const Machine& machine);

// The machine that this program runs on.
Machine this_machine();

// Returns why there is no /dev/fkt, and in parentheses what to type: the first thing that is
// blocked.
std::string why_no_device(const Machine& machine);

}  // namespace fkt::doctor
