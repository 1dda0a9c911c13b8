// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/kft_log.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parse.h"
#include "lib/base/text_writer.h"

namespace fkt {
namespace {

// Looks_like_kft() reads no more; a log's head is much shorter.
constexpr std::size_t kHeadLines = 100;
// Us, 142 years: 2^11 of them can be added without overflow.
constexpr std::uint64_t kLongest = 1ULL << 52;

// Returns the next word of the line; empty at its end.
std::string_view word(std::string_view& line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) {
    line = {};
    return {};
  }
  line.remove_prefix(begin);
  const std::string_view found = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(found.size());
  return found;
}

bool time(std::string_view text, std::uint64_t& us) {
  return parse_number(text, us) && us <= kLongest;
}

// Parses "-1", "33", "33i" or "-1i".
bool pid(std::string_view text, KftCall& call) {
  if (text.ends_with('i')) {
    call.interrupt = true;
    text.remove_suffix(1);
  }
  if (!parse_number(text, call.pid) || call.pid < -1 || call.pid > INT32_MAX) return false;
  call.interrupt |= call.pid == -1;
  return true;
}

// The durations of calls whose ends have lines of their own, in the order of their entries.
class Ends {
 public:
  explicit Ends(std::string_view text) {
    // Most logs have no such line. The word may stand between any blanks.
    if (text.find(FKT_KFT_TEXT_IS_ENTRY) == text.npos) return;
    while (!text.empty()) {
      const auto call = parse_kft_line(take_until(text, '\n'));
      if (call && call->kind == KftCall::Kind::entry) begin(*call);
      if (call && call->kind == KftCall::Kind::exit) end(*call);
    }
  }

  // Sets the duration of the next entry, and the CPU of its exit.
  void take(KftCall& call) {
    const Seen& seen = seen_[next_++];
    call.exit_seen = seen.duration != kUnseen;
    if (!call.exit_seen) return;
    call.delta = seen.duration;
    call.cpu = seen.cpu;
  }

 private:
  static constexpr std::uint64_t kUnseen = UINT64_MAX;
  static constexpr std::size_t kSearched =
      1000;  // calls that are looked through for an exit's entry
  struct Open {
    std::string_view function;
    std::uint64_t entry = 0;
    std::size_t number = 0;
  };
  struct Seen {
    std::uint64_t duration = kUnseen;  // us; kUnseen: no exit
    std::uint16_t cpu = 0;
  };

  std::vector<Open>& open_of(const KftCall& call) { return open_[{call.pid, call.interrupt}]; }
  void begin(const KftCall& call) {
    open_of(call).push_back({call.function, call.entry, seen_.size()});
    seen_.emplace_back();
  }
  // The exits of the calls after it were not seen.
  void end(const KftCall& call) {
    std::vector<Open>& open = open_of(call);
    const auto deepest =
        open.rbegin() + static_cast<std::ptrdiff_t>(std::min(open.size(), kSearched));
    const auto last = std::find_if(open.rbegin(), deepest,
                                   [&](const Open& one) { return one.function == call.function; });
    if (last == deepest || call.entry < last->entry) return;
    seen_[last->number] = {call.entry - last->entry, call.cpu};
    open.erase(last.base() - 1, open.end());
  }

  std::map<std::pair<std::int64_t, bool>, std::vector<Open>> open_;  // by PID, and in interrupts
  std::vector<Seen> seen_;                                           // of each entry
  std::size_t next_ = 0;
};

bool is_head(std::string_view line) {
  return word(line) == "Entry" && word(line) == "Delta" && word(line) == "PID";
}

}  // namespace

std::optional<KftCall> parse_kft_line(std::string_view line, bool zero_is_short) {
  // Control characters are refused, because names are written to terminals.
  if (std::any_of(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r') || c == 0x7f;
      })) {
    return std::nullopt;
  }
  KftCall call;
  if (!time(word(line), call.entry)) return std::nullopt;
  const std::string_view delta = word(line);
  if (delta == FKT_KFT_TEXT_IS_ENTRY) {
    call.kind = KftCall::Kind::entry;
  } else if (delta == FKT_KFT_TEXT_IS_EXIT) {
    call.kind = KftCall::Kind::exit;
  } else if (delta == "no") {
    if (word(line) != "exit") return std::nullopt;
  } else if (time(delta, call.delta)) {
    call.exit_seen = call.delta != 0 || zero_is_short;
  } else if (delta != "-1" && delta != FKT_KFT_TEXT_IS_STACK) {
    // These mark calls that were logged for another reason than their duration.
    return std::nullopt;
  }
  if (!pid(word(line), call)) return std::nullopt;
  call.function = word(line);
  call.called_at = word(line);
  if (call.function.empty() || call.called_at.empty()) return std::nullopt;
  const std::string_view cpu = word(line);
  if ((!cpu.empty() && !parse_number(cpu, call.cpu)) || !word(line).empty()) return std::nullopt;
  call.function = call.function.substr(0, call.function.rfind("+0x"));
  call.caller = call.called_at.substr(0, call.called_at.rfind("+0x"));
  if (call.function.empty()) return std::nullopt;
  return call;
}

bool looks_like_kft(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return false;
  for (std::size_t number = 0; number < kHeadLines && !text.empty(); number++) {
    const std::string_view line = take_until(text, '\n');
    if (is_head(line) || parse_kft_line(line)) return true;
  }
  return false;
}

std::string kft_word(std::string_view name) {
  TextWriter safe;
  safe.escaped(name);
  std::string word = safe.take();
  std::ranges::replace(word, ' ', '_');
  return word;
}

Result<KftCounts> read_kft(std::string_view text, const std::string& name,
                           const std::function<void(const KftCall&)>& call) {
  KftCounts counts;
  bool zero_is_short = false;
  Ends ends(text);
  for (std::size_t number = 1; !text.empty(); number++) {
    const std::string_view line = take_until(text, '\n');
    zero_is_short |= counts.calls == 0 && line == kKftZeroIsShort;
    if (auto parsed = parse_kft_line(line, zero_is_short)) {
      if (parsed->kind == KftCall::Kind::exit) continue;
      if (parsed->kind == KftCall::Kind::entry) ends.take(*parsed);
      counts.calls++;
      call(*parsed);
    } else if (counts.calls > 0 && line.find_first_not_of(" \t\r") != std::string_view::npos) {
      if (counts.other_lines++ == 0) counts.first_other = number;
    }
  }
  if (counts.calls > 0) return counts;
  return Error{ErrorCode::format, name + ": no call in this KFT log"};
}

}  // namespace fkt
