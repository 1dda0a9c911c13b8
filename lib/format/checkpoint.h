// SPDX-License-Identifier: GPL-2.0-only
// The state at which a slice begins (FKT_SEC_CUT): what a reader would know from the pages before
// it. A reader that starts with it counts the slice exactly as it counts that part in the whole
// recording.
//
// The section consists of lines of tab-separated columns. Tasks and types are referred to by the
// number of their line, from 0; "-" stands for none. A stack is a list of "type:match:begin"
// separated by blanks, the innermost last.
//   slice  from, to: full stamps, from <= clock < to
//   type   kind, event id, value, hash of a named interrupt's words (0: none), name
//   task   tid, tgid, leader, cpu, flags, mode, off, since, fork's call, stack, comm, born (full
//          stamp of its fork; 0: before the recording, or not seen)
//   cpu    number, current task, next task, last event, charged up to, clock of the last event that
//          is no gap, events lost before the slice, stack
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"

namespace fkt {

struct Checkpoint {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Type {
    std::uint8_t kind = 0;  // number of the SpanKind; that of SpanKind::other for the file's own
    std::uint16_t event = 0;
    std::uint64_t value = 0;
    // Hash of the words that name the interrupt; 0: it is known by its number.
    std::uint64_t named = 0;
    std::string name;
  };
  struct Open {
    std::uint32_t type = 0;
    std::uint64_t match = 0;
    std::uint64_t begin = 0;  // ticks
  };
  enum Flags : std::uint32_t {
    idle = 1 << 0,
    kernel = 1 << 1,
    member = 1 << 2,
    forked = 1 << 3,
    exited = 1 << 4,
    left_dead = 1 << 5,
    freed = 1 << 6,
    seen = 1 << 7,         // has run before the cut
    gap = 1 << 8,          // a gap may hide the entry of its system call
    from_fork = 1 << 9,    // its first exit is the return of its parent's fork
    command = 1 << 10,     // the recorded command or a descendant
    empty_name = 1 << 11,  // its name is empty; otherwise an empty name is one that is not known
  };
  static std::uint32_t flag(bool on, Flags flag) {
    return on ? static_cast<std::uint32_t>(flag) : 0;
  }
  // Where a task runs outside of the spans that are known, and whether and how it is switched out;
  // the section has the values as numbers.
  enum class Mode : std::uint8_t { unknown, user, kernel };
  enum class Off : std::uint8_t { no, blocked, preempted };
  struct Task {
    std::uint32_t tid = 0, tgid = 0;
    std::uint32_t leader = kNone;
    std::uint32_t cpu = 0;  // CPU where it ran last; for an idle task its own CPU
    std::uint32_t flags = 0;
    Mode mode = Mode::unknown;
    Off off = Off::no;
    std::uint64_t since = 0;  // ticks; runs or is switched out since
    std::uint32_t fork_type = kNone;
    std::vector<Open> open;
    std::string comm;
    std::uint64_t born = 0;  // ticks; 0: not known
  };
  struct Cpu {
    std::uint32_t cpu = 0;
    std::uint32_t current = kNone, next = kNone;     // current none: no event of the CPU was seen
    std::uint64_t last = 0, charged = 0, clock = 0;  // ticks
    std::optional<std::uint64_t> lost;  // events lost before the slice; nothing: not known
    std::vector<Open> open;
  };

  std::uint64_t from = 0, to = 0;  // bounds of the slice (ticks)
  std::vector<Type> types;
  std::vector<Task> tasks;
  std::vector<Cpu> cpus;

  // Returns the state of the CPU with this number; nullptr: the checkpoint has none.
  const Cpu* find(std::uint32_t cpu) const;
  // Returns the text of the section.
  std::string to_lines() const;
  // Parses the lines of the section. Error (damaged): a malformed line, or a number out of its
  // range. All indexes in the result are in range.
  static Result<Checkpoint> parse(std::string_view lines);
};

// Maps the numbers of a checkpoint's tasks and types to their indexes in the tables of the reader
// that continues from the checkpoint.
struct CheckpointMapping {
  // For tables that were just built from the checkpoint: indexes equal the checkpoint's numbers.
  static CheckpointMapping same(const Checkpoint& checkpoint) {
    CheckpointMapping places;
    places.tasks.resize(checkpoint.tasks.size());
    places.types.resize(checkpoint.types.size());
    std::iota(places.tasks.begin(), places.tasks.end(), 0);
    std::iota(places.types.begin(), places.types.end(), 0);
    return places;
  }
  std::vector<std::uint32_t> tasks, types;
  std::uint32_t task(std::uint32_t number) const {
    return number == Checkpoint::kNone ? Checkpoint::kNone : tasks[number];
  }
};

}  // namespace fkt
