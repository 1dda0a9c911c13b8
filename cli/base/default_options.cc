// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/default_options.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>

#include <boost/program_options/parsers.hpp>

#include "cli/base/messages.h"
#include "lib/base/read_file.h"
#include "lib/base/suggest.h"

namespace fkt::cli {
namespace {

std::filesystem::path own_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::vector<std::string> names_of_tools() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(own_folder(), error)) {
    std::string name = entry.path().filename();
    if (name.starts_with("fkt_")) names.push_back(std::move(name));
  }
  return names;
}

std::string variable(const char* name) {
  const char* const text = ::getenv(name);
  return text == nullptr ? std::string() : text;
}

// Empty: there is none.
std::string file_of_defaults() {
  if (::getenv("FKT_CONFIG") != nullptr) return variable("FKT_CONFIG");
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty() && !variable("HOME").empty()) folder = variable("HOME") + "/.config";
  const std::string file = folder + "/fkt.conf";
  return folder.empty() || ::access(file.c_str(), F_OK) != 0 ? std::string() : file;
}

}  // namespace

Status parse_default_options(std::string_view text, const std::string& source,
                             std::string_view tool, const std::vector<std::string>& tools,
                             std::vector<DefaultOptions>& out) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos || line[begin] == '#') continue;
    DefaultOptions found{source + ':' + std::to_string(number), {}};
    try {
      found.words = boost::program_options::split_unix(line.substr(begin), " \t\r");
    } catch (const std::exception&) {
      return usage(found.where + ": behind \\ there is none of \\ \" ' n");
    }
    const std::string name = found.words.front();
    if (name != tool && std::ranges::find(tools, name) == tools.end()) {
      return usage(found.where + ": \"" + name + "\" is no tool; a line is TOOL OPTION ..." +
                   did_you_mean(name, tools));
    }
    if (name != tool) continue;
    found.words.erase(found.words.begin());
    out.push_back(std::move(found));
  }
  return Done{};
}

Result<std::vector<DefaultOptions>> default_options(std::string_view tool) {
  std::vector<DefaultOptions> found;
  const std::string text = variable("FKT_OPTIONS"), file = file_of_defaults();
  if (text.empty() && file.empty()) return found;
  const std::vector<std::string> tools = names_of_tools();
  FKT_TRY(parse_default_options(text, "FKT_OPTIONS", tool, tools, found));
  if (file.empty()) return found;
  const std::string lines = FKT_TRY(read_file(file, kMostWritten));
  FKT_TRY(parse_default_options(lines, file, tool, tools, found));
  return found;
}

std::string path_of_tool(const std::string& name) {
  const auto beside = own_folder() / name;
  return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : name;
}

}  // namespace fkt::cli
