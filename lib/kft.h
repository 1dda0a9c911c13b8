// SPDX-License-Identifier: GPL-2.0-only
// The text log of KFT and KFI, as addr2sym or kfiresolve leave it: a head of a few lines, then one
// call a line, in the order in which the calls began:
//
//    Entry      Delta      PID            Function                    Called At
//   --------   --------   -----   -------------------------   --------------------------
//      23662       1333       0                    con_init   console_init+0x78
//
// Times are microseconds. Delta "0" or "no exit": the exit was not seen. PID "-1", or one with an
// "i" behind it: in an interrupt. What is no call is counted, and the first such line is named.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lib/result.h"

namespace fkt {

struct KftCall {
  std::uint64_t entry = 0;             // us
  std::uint64_t delta = 0;             // us; 0: the exit was not seen
  std::int64_t pid = 0;                // -1 in interrupts
  bool interrupt = false;              // runs in an interrupt
  std::string_view function;           // without "+0x0"; points into the text
  std::string_view caller, called_at;  // "console_init", "console_init+0x78"
};

// One line of a log; nothing if it is no call.
std::optional<KftCall> parse_kft_line(std::string_view line);

struct KftCounts {
  std::uint64_t calls = 0;
  std::uint64_t other_lines = 0;  // behind the first call, neither empty nor a call
  std::size_t first_other = 0;    // the number of the first of them, from 1
};

// True if `text`, a file's beginning, is a KFT log: it has a column head or a call in its first
// lines, and no zero byte.
bool looks_like_kft(std::string_view text);

// Hands on every call of `text`. Fails where there is none; `name` is the error's subject.
Result<KftCounts> read_kft(std::string_view text, const std::string& name,
                           const std::function<void(const KftCall&)>& call);

}  // namespace fkt
