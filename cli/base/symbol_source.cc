// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/symbol_source.h"

#include <fcntl.h>

#include <fstream>
#include <iostream>
#include <vector>

#include "cli/base/messages.h"
#include "lib/base/mapped_file.h"
#include "lib/base/os_error.h"
#include "lib/base/read_file.h"
#include "lib/base/unique_fd.h"
#include "lib/read/recording.h"
#include "lib/record/kernel_symbols.h"
#include "lib/record/output_file.h"

namespace fkt::cli {
namespace {

constexpr const char* kKallsyms = "/proc/kallsyms";
constexpr std::size_t kMostLine = 1 << 20;  // bytes

Result<Symbols> symbols_of_recording(const std::string& path) {
  const auto recording = FKT_TRY(Recording::open(path));
  Symbols symbols = recording.info().symbols;
  if (symbols.empty()) {
    return Error{ErrorCode::format, path +
                                        ": the recording has no kernel symbols (fkt_record "
                                        "stores them if it runs with CAP_SYSLOG: as root)"};
  }
  return symbols;
}

Result<Symbols> symbols_of_list(const std::string& path, std::string text) {
  const KernelSymbols kernel = parse_kallsyms(std::move(text));
  if (!kernel.hidden) return Symbols::parse(kernel.to_lines());
  if (path == kKallsyms) {
    return Error{ErrorCode::io, path +
                                    ": the kernel hides its addresses from processes without "
                                    "CAP_SYSLOG (sudo; or -m System.map)"};
  }
  return Error{ErrorCode::format, path +
                                      ": no symbols: neither a System.map nor a list like "
                                      "/proc/kallsyms nor a recording"};
}

}  // namespace

void add_symbol_options(Options& options) {
  auto add = options.section("Options");
  add("map,m", value("FILE"),
      "where the symbols are: a System.map, a list like /proc/kallsyms, or a recording "
      "(default: /proc/kallsyms)");
  options.positional("FILE", 1);
}

Result<Symbols> symbols_of(const Options& options) {
  const std::string path = options.has("map") ? options.text("map") : kKallsyms;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return os_failure(path);
  // Not limited as lists are: a recording may be larger than any list of symbols.
  if (holds_fkt_file(file.get())) return symbols_of_recording(path);
  auto text = FKT_TRY(read_descriptor(file.get(), path, kMostListed));
  return symbols_of_list(path, std::move(text));
}

Status translate(const Options& options, const std::function<std::string(std::string_view)>& line) {
  ignore_sigpipe();
  const std::string name = options.arguments().empty() ? "-" : options.arguments().front();
  if (name == "-")
    std::ios::sync_with_stdio(false);  // else the number of buffered lines is not known
  std::ifstream file;
  if (name != "-") {
    file.open(name);
    if (!file) return os_failure(name);
  }
  std::istream& in = name == "-" ? std::cin : file;
  std::vector<char> read(kMostLine + 1);
  std::string out;
  while (in.getline(read.data(), static_cast<std::streamsize>(read.size()))) {
    const auto taken = static_cast<std::size_t>(in.gcount());
    out += line({read.data(), in.eof() ? taken : taken - 1});
    if (!in.eof()) out += '\n';
    // Collects output only while more input is buffered: lines of a pipe appear as they arrive.
    if (out.size() < (1 << 16) && in.rdbuf()->in_avail() > 0) continue;
    const auto put = FKT_TRY(cli::put(out));
    if (!put) return Done{};
    out.clear();
  }
  if (in.bad()) return os_failure(name);
  FKT_TRY(cli::put(out));
  // Reading has stopped before the end of the input: a line is longer than the buffer.
  if (in.gcount() > 0) return usage(input_name(name) + ": a line is longer than 1 MiB");
  return Done{};
}

}  // namespace fkt::cli
