// SPDX-License-Identifier: GPL-2.0-only
// The lines of KFT's text log that are no whole calls: entries and exits of functions (`untimed`),
// and the stacks at entries (`watch`), with a line for each function of a stack, the outermost one
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/text_writer.h"
#include "lib/read/recording.h"

namespace fkt {

class KftMoments {
 public:
  // Reads this part of the recording, which must outlive this object.
  KftMoments(const Recording& recording, const ReadRange& range);

  // Writes the lines of events before `clock` (ticks) that were not written yet. us: converts a
  // clock (ticks) to microseconds since the log's begin.
  void write_before(std::uint64_t clock, TextWriter& out,
                    const std::function<std::uint64_t(std::uint64_t clock)>& us);

 private:
  enum class Kind : std::uint8_t { entry, exit, frame, gone };
  struct Line {
    std::uint64_t clock = 0;
    std::uint32_t pid = 0, cpu = 0;
    std::uint32_t function = 0, caller = kNone;  // numbers in names_
    Kind kind = Kind::entry;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void add(const Event& event);
  void add_end(const Event& event, Kind kind);
  void add_stack(const Event& event);
  void find_callers();
  std::uint32_t number_of(std::string_view function);

  const RecordingInfo& info_;
  std::vector<Line> lines_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  // Of each CPU, the lines of entries whose stacks may follow: an interrupt's comes before that of
  // the entry that it has interrupted.
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> entries_;
  std::size_t next_ = 0;  // line to be written
};

}  // namespace fkt
