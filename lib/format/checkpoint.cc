// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/checkpoint.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include <fkt/wire.h>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/text_writer.h"
#include "lib/format/limits.h"
#include "lib/format/span_kind.h"

namespace fkt {
namespace {

class Line {
 public:
  Line(TextWriter& out, std::string_view kind) : out_(out) { out_.put(kind); }
  ~Line() { out_.put('\n'); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Line& number(std::uint64_t value) {
    out_.put('\t');
    out_.number(value);
    return *this;
  }
  template <class Enum>
  Line& code(Enum value) {
    return number(static_cast<std::uint64_t>(value));
  }
  Line& index(std::uint32_t value) { return optional(value != Checkpoint::kNone, value); }
  Line& optional(bool has, std::uint64_t value) {
    if (has) return number(value);
    out_.put("\t-");
    return *this;
  }
  Line& text(std::string_view text) {
    out_.put('\t');
    out_.escaped(text);
    return *this;
  }
  Line& stack(const std::vector<Checkpoint::Open>& open) {
    out_.put('\t');
    for (const Checkpoint::Open& span : open) {
      if (&span != &open.front()) out_.put(' ');
      out_.number(span.type);
      out_.put(':');
      out_.number(span.match);
      out_.put(':');
      out_.number(span.begin);
    }
    return *this;
  }

 private:
  TextWriter& out_;
};

// Takes the columns of one line; good() is false after the first wrong column.
class Columns {
 public:
  explicit Columns(std::string_view line) : rest_(line) {}
  bool good() const { return good_; }
  bool more() const { return !rest_.empty(); }

  template <class T>
  Columns& number(T& out) {
    good_ = good_ && parse_number(take_until(rest_, '\t'), out);
    return *this;
  }
  // makes_sense() must check whether the enumeration has the value.
  template <class Enum>
  Columns& code(Enum& out) {
    std::underlying_type_t<Enum> value = 0;
    number(value);
    out = static_cast<Enum>(value);
    return *this;
  }
  Columns& index(std::uint32_t& out) {
    std::optional<std::uint64_t> value;
    optional(value);
    if (value && *value >= Checkpoint::kNone) good_ = false;
    out = value ? static_cast<std::uint32_t>(*value) : Checkpoint::kNone;
    return *this;
  }
  Columns& optional(std::optional<std::uint64_t>& out) {
    const std::string_view column = take_until(rest_, '\t');
    if (column == "-") return *this;
    std::uint64_t value = 0;
    good_ = good_ && parse_number(column, value);
    out = value;
    return *this;
  }
  Columns& text(std::string& out) {
    out = unescaped(take_until(rest_, '\t'));
    return *this;
  }
  Columns& stack(std::vector<Checkpoint::Open>& out) {
    std::string_view column = take_until(rest_, '\t');
    while (good_ && !column.empty()) {
      std::string_view span = take_until(column, ' ');
      Checkpoint::Open& open = out.emplace_back();
      good_ = parse_number(take_until(span, ':'), open.type) &&
              parse_number(take_until(span, ':'), open.match) && parse_number(span, open.begin);
    }
    return *this;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

bool parse_line(std::string_view line, Checkpoint& checkpoint) {
  const std::string_view kind = take_until(line, '\t');
  Columns columns(line);
  if (kind == "slice") {
    columns.number(checkpoint.from).number(checkpoint.to);
  } else if (kind == "type") {
    Checkpoint::Type& t = checkpoint.types.emplace_back();
    columns.number(t.kind).number(t.event).number(t.value).number(t.named);
    columns.text(t.name);
  } else if (kind == "task") {
    Checkpoint::Task& t = checkpoint.tasks.emplace_back();
    columns.number(t.tid).number(t.tgid).index(t.leader).number(t.cpu).number(t.flags);
    columns.code(t.mode).code(t.off).number(t.since).index(t.fork_type);
    columns.stack(t.open).text(t.comm);
    if (columns.more()) columns.number(t.born);  // slices of older versions have no such column
  } else if (kind == "cpu") {
    Checkpoint::Cpu& c = checkpoint.cpus.emplace_back();
    columns.number(c.cpu).index(c.current).index(c.next).number(c.last).number(c.charged);
    columns.number(c.clock).optional(c.lost).stack(c.open);
  }
  return columns.good();
}

// Checks every number and index, so that the users of a checkpoint need not check them.
bool makes_sense(const Checkpoint& checkpoint) {
  const auto task = [&](std::uint32_t i) {
    return i == Checkpoint::kNone || i < checkpoint.tasks.size();
  };
  const auto stack = [&](const std::vector<Checkpoint::Open>& open, bool cpu) {
    return std::ranges::all_of(open, [&](const Checkpoint::Open& span) {
      if (span.type >= checkpoint.types.size() || span.begin > checkpoint.from) return false;
      const std::uint8_t kind = checkpoint.types[span.type].kind;
      const bool of_cpu = kind == SpanKind::irq.number() || kind == SpanKind::vector.number() ||
                          kind == SpanKind::softirq.number();
      return kind == SpanKind::other.number() || of_cpu == cpu;
    });
  };
  if (checkpoint.to <= checkpoint.from) return false;
  for (const Checkpoint::Type& t : checkpoint.types) {
    if (t.kind > SpanKind::other.number() || t.event > FKT_ID_MASK) return false;
  }
  std::vector<bool> idle(kMaxCpus);  // CPUs whose idle task was found
  for (const Checkpoint::Task& t : checkpoint.tasks) {
    if ((t.flags & Checkpoint::idle) != 0) {
      if (t.cpu >= kMaxCpus || idle[t.cpu]) return false;
      idle[t.cpu] = true;
    }
    const bool good = t.tid <= FKT_PID_MASK && t.tgid <= FKT_PID_MASK &&
                      t.leader < checkpoint.tasks.size() && t.cpu < kMaxCpus &&
                      t.mode <= Checkpoint::Mode::kernel && t.off <= Checkpoint::Off::preempted &&
                      (t.fork_type == Checkpoint::kNone || t.fork_type < checkpoint.types.size()) &&
                      ((t.flags & Checkpoint::idle) != 0) == (t.tid == 0) && stack(t.open, false);
    if (!good) return false;
  }
  std::uint64_t before = 0;  // CPUs are in ascending order, each once
  for (const Checkpoint::Cpu& c : checkpoint.cpus) {
    const bool good = c.cpu < kMaxCpus && c.cpu >= before && task(c.current) && task(c.next) &&
                      (c.current != Checkpoint::kNone || c.next == Checkpoint::kNone) &&
                      c.last <= checkpoint.from && c.charged <= checkpoint.from &&
                      c.clock <= checkpoint.from && stack(c.open, true);
    if (!good) return false;
    before = std::uint64_t{c.cpu} + 1;
  }
  return true;
}

}  // namespace

const Checkpoint::Cpu* Checkpoint::find(std::uint32_t cpu) const {
  const auto found = std::ranges::find(cpus, cpu, &Cpu::cpu);
  return found == cpus.end() ? nullptr : &*found;
}

std::string Checkpoint::to_lines() const {
  TextWriter out;
  Line(out, "slice").number(from).number(to);
  for (const Type& t : types) {
    Line(out, "type").number(t.kind).number(t.event).number(t.value).number(t.named).text(t.name);
  }
  for (const Task& t : tasks) {
    Line line(out, "task");
    line.number(t.tid).number(t.tgid).index(t.leader).number(t.cpu).number(t.flags);
    line.code(t.mode).code(t.off).number(t.since).index(t.fork_type).stack(t.open).text(t.comm);
    line.number(t.born);
  }
  for (const Cpu& c : cpus) {
    Line line(out, "cpu");
    line.number(c.cpu).index(c.current).index(c.next).number(c.last).number(c.charged);
    line.number(c.clock).optional(c.lost.has_value(), c.lost.value_or(0)).stack(c.open);
  }
  return std::string(out.view());
}

Result<Checkpoint> Checkpoint::parse(std::string_view lines) {
  Checkpoint checkpoint;
  std::size_t bad = 0;
  const bool all = for_each_line(lines, [&](std::string_view line, std::size_t number) {
    bad = number;
    return parse_line(line, checkpoint);
  });
  if (!all) return Error{ErrorCode::damaged, fmt::format("line {} makes no sense", bad)};
  if (!makes_sense(checkpoint))
    return Error{ErrorCode::damaged, "the state at the cut makes no sense"};
  return checkpoint;
}

}  // namespace fkt
