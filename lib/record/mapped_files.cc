// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/mapped_files.h"

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/text.h"
#include "lib/base/text_writer.h"

namespace fkt {

std::string Mapped::file() const {
  return fmt::format("{} {} {}", device, inode, path);
}

std::vector<Mapped> parse_maps(std::string_view text) {
  std::vector<Mapped> files;
  for_each_line(text, [&](std::string_view line, std::size_t) {
    // "BEGIN-END rwxp OFFSET MAJOR:MINOR INODE     PATH"
    std::string_view rest = line;
    const std::string_view begin = take_until(rest, '-'), end = take_until(rest, ' ');
    const std::string_view rights = take_until(rest, ' '), offset = take_until(rest, ' ');
    const std::string_view major = take_until(rest, ':'), minor = take_until(rest, ' ');
    const std::string_view inode = take_until(rest, ' ');
    const std::size_t path = rest.find('/');
    Mapped mapped;
    std::uint64_t low = 0;
    const bool good = parse_number(begin, mapped.begin, 16) && parse_number(end, mapped.end, 16) &&
                      parse_number(offset, mapped.offset, 16) &&
                      parse_number(major, mapped.device, 16) && parse_number(minor, low, 16) &&
                      parse_number(inode, mapped.inode);
    if (!good || rights.find('x') == rights.npos || path == rest.npos) return true;
    mapped.device = mapped.device << 20 | low;
    mapped.path = rest.substr(path);
    files.push_back(std::move(mapped));
    return true;
  });
  return files;
}

std::string map_lines(const TaskRules& rules) {
  TextWriter out;
  for_each_process(rules, [&](std::uint32_t tgid, std::uint32_t number) {
    const Result<std::string> text = read_file(fmt::format("/proc/{}/maps", tgid));
    for (const Mapped& mapped : parse_maps(text ? *text : std::string())) {
      out.put(fmt::format("{}\t{:x}\t{:x}\t{:x}\t{}\t{}\t", number, mapped.begin, mapped.end,
                          mapped.offset, mapped.device, mapped.inode));
      out.escaped(mapped.path);
      out.put('\n');
    }
  });
  return std::string(out.view());
}

}  // namespace fkt
