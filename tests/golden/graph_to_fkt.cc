// SPDX-License-Identifier: GPL-2.0-only
// graph_to_fkt TEXT FKT: converts a trace of ftrace's function_graph tracer, as printed by
// `trace-cmd report -R -t`, into a recording. Each function becomes two events in the catalogue of
// the file; switches, wake-ups, interrupts, softirqs and the timer vector become FKT's events.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "lib/base/bytes.h"
#include "lib/base/parse.h"
#include "tests/unit/recording_builder.h"

namespace {

using namespace fkt;

constexpr std::uint32_t kFirstId = 0x100, kLastId = 0x3ff;  // free in the catalogue
constexpr std::uint32_t kTimerVector = 236;

// A parsed line, such as
// "  dd-165   [001]   24.082616483: funcgraph_exit:   func=vfs_read depth=0 ... calltime=5a.. "
struct Line {
  std::string_view task, event, values;
  std::uint32_t pid = 0, cpu = 0;
  std::uint64_t time = 0;  // ns

  std::string_view text(std::string_view key) const {
    std::string_view rest = values;
    while (!rest.empty()) {
      std::string_view word = take_until(rest, ' ');
      if (take_until(word, '=') == key) return word;
    }
    return {};
  }
  std::uint64_t number(std::string_view key, int base = 10) const {
    std::uint64_t value = 0;
    if (!parse_number(text(key), value, base)) throw std::runtime_error("a number is missing");
    return value;
  }
};

std::string_view take_word(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  return take_until(text, ' ');
}

std::optional<Line> parse(std::string_view text) {
  Line line;
  std::string_view who = take_word(text), cpu = take_word(text), time = take_word(text);
  line.event = take_word(text);
  const std::size_t dash = who.rfind('-');
  if (dash == who.npos || !cpu.starts_with('[') || !line.event.ends_with(':')) return {};
  line.event.remove_suffix(1);
  line.task = who.substr(0, dash);
  line.values = text;
  std::uint64_t seconds = 0, ns = 0;
  const bool good = parse_number(who.substr(dash + 1), line.pid) &&
                    parse_number(cpu.substr(1, cpu.size() - 2), line.cpu) &&
                    parse_number(take_until(time, '.'), seconds) &&
                    parse_number(time.substr(0, time.size() - 1), ns);
  line.time = seconds * 1'000'000'000 + ns;
  return good ? std::optional(line) : std::nullopt;
}

class Converter {
 public:
  explicit Converter(std::string_view text);
  void write(const std::string& path);

 private:
  void find_entries();
  std::uint32_t id_of(std::string_view function);
  void function(const Line& line, std::uint64_t clock);
  void other(const Line& line, std::uint64_t clock);
  std::uint64_t ticks(std::uint64_t ns) const {
    return ns - first_ + test::RecordingBuilder::kStart;
  }

  std::vector<Line> lines_;
  std::vector<std::uint64_t> times_;  // for each line, time of its event in ns
  std::uint64_t first_ = ~std::uint64_t{0};
  std::map<std::string_view, std::uint32_t> ids_;
  test::RecordingBuilder out_;
};

Converter::Converter(std::string_view text) {
  for_each_line(text, [&](std::string_view line, std::size_t) {
    if (const auto parsed = parse(line)) lines_.push_back(*parsed);
    return true;
  });
  find_entries();
  for (const std::uint64_t time : times_) first_ = std::min(first_, time);
}

// An exit line has the time of the function's entry, which is slightly before that of the entry
// line. Uses it for both.
void Converter::find_entries() {
  struct Open {
    std::size_t line;
    std::uint64_t depth;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Open>> stacks;
  for (std::size_t i = 0; i < lines_.size(); i++) {
    const Line& line = lines_[i];
    times_.push_back(line.time);
    std::vector<Open>& stack = stacks[{line.pid, line.pid == 0 ? line.cpu : 0}];
    if (line.event == "funcgraph_entry") stack.push_back({i, line.number("depth")});
    if (line.event != "funcgraph_exit") continue;
    times_[i] = line.number("rettime", 16);
    const std::uint64_t depth = line.number("depth");
    while (!stack.empty() && stack.back().depth > depth) stack.pop_back();
    if (stack.empty() || stack.back().depth != depth) continue;  // entered before the first line
    times_[stack.back().line] = line.number("calltime", 16);
    stack.pop_back();
  }
}

std::uint32_t Converter::id_of(std::string_view function) {
  const auto [place, fresh] = ids_.try_emplace(function, kFirstId + 2 * ids_.size());
  if (place->second >= kLastId) throw std::runtime_error("more functions than free ids");
  return place->second;
}

void Converter::function(const Line& line, std::uint64_t clock) {
  const bool exit = line.event == "funcgraph_exit";
  out_.event(line.cpu, clock, id_of(line.text("func")) + exit);
}

std::uint32_t switch_id(std::uint64_t state) {
  switch (state & 0x1ff) {
    case 0:
      return FKT_E_SWITCH_R;
    case 2:
      return FKT_E_SWITCH_D;
    case 16:
      return FKT_E_SWITCH_X;
    case 32:
      return FKT_E_SWITCH_Z;
    case 128:
      return FKT_E_SWITCH_I;
    case 256:
      return FKT_E_SWITCH_PREEMPT;
    default:
      return FKT_E_SWITCH_S;
  }
}

void Converter::other(const Line& line, std::uint64_t clock) {
  const auto put = [&](std::uint32_t id, std::uint64_t arg) {
    out_.event(line.cpu, clock, id, static_cast<std::uint32_t>(arg));
  };
  if (line.event == "sched_switch") {
    put(switch_id(line.number("prev_state")), line.number("next_pid"));
  } else if (line.event == "sched_waking") {
    put(FKT_E_WAKING, line.number("pid"));
  } else if (line.event == "irq_handler_entry") {
    put(FKT_E_IRQ_ENTRY, line.number("irq"));
  } else if (line.event == "irq_handler_exit") {
    put(FKT_E_IRQ_EXIT, line.number("irq") | line.number("ret") << 22);
  } else if (line.event == "softirq_entry") {
    put(FKT_E_SOFTIRQ_ENTRY, line.number("vec"));
  } else if (line.event == "softirq_exit") {
    put(FKT_E_SOFTIRQ_EXIT, line.number("vec"));
  } else if (line.event == "local_timer_entry") {
    put(FKT_E_VECTOR_ENTRY, kTimerVector);
  } else if (line.event == "local_timer_exit") {
    put(FKT_E_VECTOR_EXIT, kTimerVector);
  }
}

void Converter::write(const std::string& path) {
  std::map<std::uint32_t, std::uint32_t> running;  // by CPU
  std::map<std::uint64_t, std::string_view> names, devices;
  for (std::size_t i = 0; i < lines_.size(); i++) {
    const Line& line = lines_[i];
    const auto [known, fresh] = running.try_emplace(line.cpu, line.pid);
    if (fresh || known->second != line.pid) out_.pid(line.cpu, line.pid);
    known->second = line.event == "sched_switch"
                        ? static_cast<std::uint32_t>(line.number("next_pid"))
                        : line.pid;
    if (line.pid != 0) names.try_emplace(line.pid, line.task);
    if (line.event == "irq_handler_entry") devices[line.number("irq")] = line.text("name");
    const bool graph = line.event == "funcgraph_entry" || line.event == "funcgraph_exit";
    graph ? function(line, ticks(times_[i])) : other(line, ticks(times_[i]));
  }
  std::string tasks, interrupts, catalogue = Catalogue::builtin().to_lines();
  for (const auto& [pid, name] : names) {
    tasks += std::to_string(pid) + '\t' + std::to_string(pid) + "\t1\t" + std::string(name) + '\n';
  }
  for (const auto& [irq, name] : devices) {
    interrupts += std::to_string(irq) + '\t' + std::string(name) + "\t0\n";
  }
  for (const auto& [name, id] : ids_) {
    for (const bool exit : {false, true}) {
      char text[8];
      std::snprintf(text, sizeof text, "%03x", id + exit);
      catalogue += std::string("event\t") + text + '\t' + std::string(name) + "\t0\t" +
                   (exit ? "end:function " : "begin:function ") + std::string(name) + "\t0\t\n";
    }
  }
  out_.section(FKT_SEC_TASKS, tasks);
  out_.section(FKT_SEC_CATALOGUE, catalogue);
  out_.section(FKT_SEC_INTERRUPTS, interrupts);
  out_.write(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: graph_to_fkt TEXT FKT\n", stderr);
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    Converter(text).write(argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "graph_to_fkt: %s: %s\n", argv[1], error.what());
    return 1;
  }
  return 0;
}
