// SPDX-License-Identifier: GPL-2.0-only
// make_recording FILE: a recording in which each name of standard input, in hexadecimal, one on a
// line, is the name of a task, a waker, a file, a function, a mark and all else that has a name.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <fkt/call_event.h>
#include <fkt/point_hit.h>

#include <nlohmann/json.hpp>

#include "lib/base/text_writer.h"
#include "lib/format/json.h"
#include "tests/unit/recording_builder.h"

namespace {

using namespace fkt;
using nlohmann::json;
using test::RecordingBuilder;

constexpr std::uint32_t kFirstTask = 100, kFirstCall = 200, kFirstIrq = 20;
constexpr std::uint64_t kFirstSymbol = 0xffffffff81000000, kSymbolBytes = 0x1000;
constexpr std::uint64_t kFirstDevice = 0x800001;

// The calls and points of which the tables of files, disks and sockets are made.
enum Table : std::uint32_t { kRead = 100, kSend, kQueue = 100, kIssue, kComplete };
constexpr const char* kTables =
    "name\tfunction\t100\tvfs_read\n"
    "name\tfunction\t101\ttcp_sendmsg\n"
    "name\ttracepoint\t100\tblock_bio_queue\n"
    "name\ttracepoint\t101\tblock_rq_issue\n"
    "name\ttracepoint\t102\tblock_rq_complete\n"
    "values\tfunction\t100\t100\tdev:dev:1:0:64 ino:u:2:0:64 ret:s:3:0:64\n"
    "values\tfunction\t101\t101\tsk:x:1:0:64 sport:u:2:0:64 daddr:ip4:3:0:64 dport:port:4:0:64 "
    "ret:s:5:0:64\n"
    "values\ttracepoint\t100\t100\tdev:dev:1:0:64 part:dev:2:0:64 ino:u:3:0:64 sector:u:4:0:64\n"
    "values\ttracepoint\t101\t101\trq:x:1:0:64 dev:dev:2:0:64 sector:u:3:0:64 bytes:u:4:0:64 "
    "flags:x:5:0:64\n"
    "values\ttracepoint\t102\t102\trq:x:1:0:64 bytes:u:2:0:64 error:u:3:0:64\n";

std::string from_hex(const std::string& line) {
  std::string name;
  for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
    name += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
  }
  return name;
}

// What separates the columns of the file's lists cannot be in a name there.
std::string in_column(std::string name, bool as_word = false) {
  for (char& c : name) {
    if (c == '\t' || c == '\n' || (as_word && (c == ' ' || c == ':'))) c = '_';
  }
  return name;
}

std::string escaped(const std::string& name) {
  TextWriter out;
  out.escaped(name);
  return out.take();
}

std::vector<std::uint64_t> words_of(std::vector<std::uint64_t> words, const std::string& text) {
  const std::size_t before = words.size();
  words.resize(before + (text.size() + 7) / 8);
  std::memcpy(words.data() + before, text.data(), text.size());
  return words;
}

class Maker {
 public:
  explicit Maker(std::vector<std::string> names) : names_(std::move(names)), builder_(65536) {
    sections();
    for (std::uint32_t i = 0; i < names_.size(); i++) events(i);
  }
  void write(const std::string& file) { builder_.write(file); }

 private:
  std::string per_name(auto line) const {
    std::string lines;
    for (std::size_t i = 0; i < names_.size(); i++) lines += line(i, names_[i]) + '\n';
    return lines;
  }

  void sections() {
    const auto n = [](std::size_t i) { return std::to_string(i); };
    builder_.section(FKT_SEC_TASKS, per_name([&](std::size_t i, const std::string& name) {
                       const std::string tid = n(kFirstTask + i);
                       return tid + '\t' + tid + "\t0\t" + escaped(name);
                     }));
    builder_.section(FKT_SEC_SYSCALLS, per_name([&](std::size_t i, const std::string& name) {
                       return "64\t" + n(kFirstCall + i) + '\t' + in_column(name);
                     }));
    builder_.section(FKT_SEC_INTERRUPTS, per_name([&](std::size_t i, const std::string& name) {
                       return n(kFirstIrq + i) + '\t' + escaped(name) + "\t0";
                     }));
    builder_.section(FKT_SEC_SYMBOLS,
                     "#\tkaslr_offset=0\n" + per_name([&](std::size_t i, const std::string& name) {
                       TextWriter address;
                       address.hex_digits(kFirstSymbol + i * kSymbolBytes, 16);
                       return address.take() + "\tT\t" + in_column(name) + '\t' + in_column(name);
                     }));
    builder_.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kTables + catalogue());
    json machine = {{"cpus", 2}};
    for (const char* key : {"sysname", "nodename", "release", "version", "machine", "cpu_model"}) {
      machine[key] = names_.front();
    }
    builder_.section(FKT_SEC_MACHINE, dump_json(machine));
    const json command = {{"recorder_pid", 10},    {"workload_pid", kFirstTask},
                          {"command", names_},     {"user", names_.front()},
                          {"cwd", names_.front()}, {"mask", 0x3fffc0e41},
                          {"filter", "none"},      {"filter_pid", 0}};
    builder_.section(FKT_SEC_COMMAND, dump_json(command));
    json instruments = json::array();
    for (const std::string& name : names_) {
      json histogram = {{"value", name}, {"unit", name}, {"key", name}, {"width", 0}};
      histogram["rows"] = {{{"key", name}, {"sum", 3}, {"counts", {{1, 3}}}}};
      instruments.push_back({{"text", "call:" + name},
                             {"action", "histogram"},
                             {"layer", FKT_L_INSTRUMENTS},
                             {"places", 1},
                             {"of", "function"},
                             {"calls", true},
                             {"histogram", histogram}});
      instruments.back()["cpus"] = {
          {{"cpu", 0}, {"kept", 3}, {"dropped", 0}, {"missed", {{name, 2}}}}};
    }
    builder_.section(FKT_SEC_INSTRUMENTS, dump_json({{"instruments", instruments}}));
  }

  std::string catalogue() const {
    return per_name([&](std::size_t i, const std::string& name) {
      const std::string number = std::to_string(i), bare = in_column(name);
      std::string lines;
      for (const char* table : {"function", "tracepoint", "user", "user_function", "instruction"}) {
        lines += std::string("name\t") + table + '\t' + number + '\t' + bare + '\n';
        lines += std::string("values\t") + table + '\t' + number + '\t' + number + '\t' +
                 in_column(name, true) + ":str:1:0:0\n";
      }
      lines += "name\tdev\t" + std::to_string(kFirstDevice + i) + '\t' + bare + '\n';
      if (i < 8) lines += "layer\t" + std::to_string(18 + i) + '\t' + bare + "\ttext\n";
      TextWriter id;
      id.hex_digits(0x600 + i, 3);
      // Events of their own: one without values, whose layer has such a name too.
      lines += "event\t" + id.take() + '\t' + bare + '\t' + std::to_string(18 + i % 8) +
               "\tpoint\t1\t" + in_column(name, true) + ":u:1:0:64";
      return lines;
    });
  }

  void put(std::uint32_t id, std::uint32_t arg, const std::vector<std::uint64_t>& words = {}) {
    clock_ += 1000;
    builder_.long_event(cpu_, clock_, id, arg, words);
  }
  // An event whose argument is its number of words.
  void put_long(std::uint32_t id, const std::vector<std::uint64_t>& words) {
    put(id, static_cast<std::uint32_t>(words.size()), words);
  }

  void put_call(std::uint32_t function, const std::vector<std::uint64_t>& values) {
    std::vector<std::uint64_t> words{fkt_call_values_word(function, 500), clock_ + 500};
    words.insert(words.end(), values.begin(), values.end());
    put_long(FKT_E_CALL_VALUES, words);
  }
  void put_point(std::uint32_t point, const std::vector<std::uint64_t>& values) {
    put(FKT_E_POINT_VALUES, static_cast<std::uint32_t>(FKT_POINT_ARG(point, values.size())),
        values);
  }

  // All that happens in the task with this name; the next one wakes it.
  void events(std::uint32_t i) {
    const std::string& name = names_[i];
    const std::uint32_t tid = kFirstTask + i, other = kFirstTask + (i + 1) % names_.size();
    const std::uint64_t dev = kFirstDevice + i;
    builder_.pid(cpu_, tid);
    put_long(FKT_E_MARK, words_of({}, name));
    put_long(FKT_E_NAME, words_of({dev, i + 1}, name));
    put(FKT_E_SYS_ENTRY, kFirstCall + i);
    put_long(FKT_E_SYS_PATH, words_of({}, name));
    put(FKT_E_IRQ_ENTRY, kFirstIrq + i);
    put(FKT_E_IRQ_EXIT, kFirstIrq + i);
    put_long(FKT_E_IRQ_ENTRY_NAMED, words_of({kFirstIrq + i}, name));
    put(FKT_E_IRQ_EXIT, kFirstIrq + i);
    put(FKT_E_SWITCH_S, other);
    put(FKT_E_WAKING, tid);
    put(FKT_E_SWITCH_PREEMPT, tid);
    put(FKT_E_SYS_EXIT, 0);
    put_call(i, words_of({}, name));
    put_call(kRead, {dev, i + 1, 512});
    put_call(kSend, {i, 80, i, 80, 512});
    put_point(kQueue, {dev, dev, i + 1, i * 8});
    put_point(kIssue, {i, dev, i * 8, 4096, 0});
    put_point(kComplete, {i, 4096, 0});
    put(FKT_E_POINT, i);
    put_point(i, words_of({}, name));
    put(FKT_E_FUNCTION_ENTRY, i);
    put(FKT_E_STACK, static_cast<std::uint32_t>(FKT_POINT_ARG(i, 2)),
        {kFirstSymbol + i * kSymbolBytes + 4,
         kFirstSymbol + (i + 1) % names_.size() * kSymbolBytes});
    put(FKT_E_FUNCTION_EXIT, i);
    put(FKT_E_INSTRUCTION, i);
    put(FKT_E_USER_BEGIN, i);
    put(FKT_E_USER, i);
    put(FKT_E_USER_END, i);
    put(FKT_E_USER_ENTRY, i);
    put(FKT_E_USER_EXIT, i);
    put(0x600 + i, 0, {7});
    put_long(FKT_E_EXEC, words_of({tid | std::uint64_t{tid} << 32}, name));
    std::vector<std::uint64_t> comm = words_of({}, name.substr(0, 15));
    comm.resize(2);
    put(FKT_E_RENAME, tid, comm);
  }

  std::vector<std::string> names_;
  RecordingBuilder builder_;
  std::uint64_t clock_ = RecordingBuilder::kStart;
  std::uint32_t cpu_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_recording FILE <NAMES\n";
    return 2;
  }
  std::vector<std::string> names;
  for (std::string line; std::getline(std::cin, line);) names.push_back(from_hex(line));
  Maker(std::move(names)).write(argv[1]);
  return 0;
}
