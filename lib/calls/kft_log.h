// SPDX-License-Identifier: GPL-2.0-only
// The text log of KFT and KFI, as written by addr2sym or kfiresolve: a head of a few lines, then
// one line per call, in the order in which the calls began:
//
//    Entry      Delta      PID            Function                    Called At          CPU
//   --------   --------   -----   -------------------------   --------------------------   ---
//      23662       1333       0                    con_init   console_init+0x78              0
//
// Only logs of FKT have the CPU: that on which the call returned. Others are of one CPU.
// Times are in microseconds. Delta "0" or "no exit": the exit was not seen. PID "-1", or one
// followed by "i": the call ran in an interrupt. If the head has the line kKftZeroIsShort, as those
// that fkt_kd writes, Delta "0" is a call of less than 1 us. Delta "entry" and "exit": each end of
// a call has its own line. An exit ends the latest open entry with its function and PID. Delta
// "-2": the functions of a stack, none of whose exits was seen. Other lines are counted, and the
// number of the first one is kept.
#pragma once

#include <fkt/kft_text.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.h"

namespace fkt {

inline constexpr std::string_view kKftZeroIsShort = FKT_KFT_TEXT_ZERO_IS_SHORT;

struct KftCall {
  enum class Kind : std::uint8_t { whole, entry, exit };

  Kind kind = Kind::whole;
  std::uint64_t entry = 0;  // us
  std::uint64_t delta = 0;  // us; 0 if the exit was not seen
  bool exit_seen = false;
  std::int64_t pid = 0;                // -1 in interrupts
  bool interrupt = false;              // runs in an interrupt
  std::uint16_t cpu = 0;               // on which it returned; 0 if the log does not say it
  std::string_view function;           // the word, without "+0x0"; points into the text
  std::string_view caller, called_at;  // "console_init", "console_init+0x78"
};

// Returns a name as the word that a log has for it: "irq_14_ide0".
std::string kft_word(std::string_view name);

// Parses one line of a log; nothing if it is not a call. zero_is_short: as kKftZeroIsShort says.
std::optional<KftCall> parse_kft_line(std::string_view line, bool zero_is_short = false);

struct KftCounts {
  std::uint64_t calls = 0;
  std::uint64_t other_lines = 0;  // lines after the first call that are neither empty nor a call
  std::size_t first_other = 0;    // line number of the first of these, from 1
};

// Returns true if `text`, the beginning of a file, is a KFT log: a title line or a call is among
// its first lines, and it has no zero byte.
bool looks_like_kft(std::string_view text);

// Calls `call` for every call in `text`; of a call with a line for each of its ends, at the line of
// its entry. Error (format): there is none; name: subject of the
// message.
Result<KftCounts> read_kft(std::string_view text, const std::string& name,
                           const std::function<void(const KftCall&)>& call);

}  // namespace fkt
