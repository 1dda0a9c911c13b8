// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/device_names.h"

#include <cstdint>
#include <map>
#include <vector>

#include "lib/base/parse.h"

namespace fkt::record {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::string_view word = take_until(line, ' ');
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// Adds the device under its dev_t number, unless it is known.
void add(std::map<std::uint64_t, std::string_view>& names, std::string_view major,
         std::string_view minor, std::string_view name) {
  std::uint64_t high = 0, low = 0;
  if (parse_number(major, high) && parse_number(minor, low)) names.emplace(high << 20 | low, name);
}

}  // namespace

std::string device_lines(std::string_view partitions, std::string_view mounts) {
  std::map<std::uint64_t, std::string_view> names;
  // major minor blocks name
  for_each_line(partitions, [&](std::string_view line, std::size_t) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() == 4) add(names, words[0], words[1], words[3]);
    return true;
  });
  // id parent major:minor root mount-point options ... - type source options
  for_each_line(mounts, [&](std::string_view line, std::size_t) {
    const std::size_t separator = line.find(" - ");
    if (separator == line.npos) return true;
    const std::vector<std::string_view> words = words_of(line);
    std::string_view device = words.size() > 2 ? words[2] : std::string_view();
    const std::string_view major = take_until(device, ':');
    std::string_view type = line.substr(separator + 3);
    add(names, major, device, take_until(type, ' '));
    return true;
  });
  std::string lines;
  for (const auto& [number, name] : names) {
    lines += "name\tdev\t" + std::to_string(number) + '\t' + std::string(name) + '\n';
  }
  return lines;
}

}  // namespace fkt::record
