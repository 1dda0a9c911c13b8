// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/cover_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/core.h>

#include "lib/base/json_writer.h"
#include "lib/base/table.h"

namespace fkt {
namespace {

// Numbers of blocks.
struct CoverSums {
  std::uint64_t blocks = 0, seen = 0, derived = 0, missed = 0, unknown = 0;

  std::uint64_t hit() const { return seen + derived; }
  void add(const FunctionCoverage& covered) {
    for (const Covered block : covered.blocks) {
      blocks++;
      seen += block == Covered::hit;
      derived += block == Covered::derived_hit;
      missed += is_missed(block);
      unknown += block == Covered::unknown;
    }
  }
  double share() const {
    return blocks == 0 ? 0 : 100.0 * static_cast<double>(hit()) / static_cast<double>(blocks);
  }
};

struct CoverRow {
  std::string where;  // its source file, or module
  std::string name;
  CoverSums sums;
};

bool is_entered(const FunctionCoverage& covered) {
  return std::ranges::any_of(covered.blocks, is_hit);
}

std::string owner_of(const CoveredFunction& function) {
  return function.module.empty() ? "kernel" : '[' + function.module + ']';
}

// Returns the source file that the function's first block is in; its module, if that is not known.
std::string where_of(const Coverage& coverage, const CoveredFunction& function,
                     const FunctionCoverage& covered) {
  const auto first = std::ranges::find_if(covered.lines, [](auto line) { return line.block == 0; });
  return first == covered.lines.end() ? owner_of(function) : coverage.files[first->file];
}

CoverSums sums_of(const Coverage& coverage) {
  CoverSums sums;
  for (const auto& [function, covered] : coverage.functions) sums.add(covered);
  return sums;
}

std::vector<CoverRow> rows_of(const Coverage& coverage) {
  std::vector<CoverRow> rows;
  for (const auto& [function, covered] : coverage.functions) {
    if (!is_entered(covered)) continue;
    rows.push_back({where_of(coverage, function, covered), function.name, {}});
    rows.back().sums.add(covered);
  }
  std::ranges::stable_sort(rows, {}, &CoverRow::where);
  return rows;
}

Percent percent_of(const CoverSums& sums) {
  return {sums.share()};
}

TableOf<CoverRow> cover_table(const std::vector<CoverRow>& rows) {
  TableOf<CoverRow> table(rows);
  table.add({.title = "File", .key = "file", .width = 8, .left = true, .fitted = true},
            [](const CoverRow& row) { return row.where; });
  table.add({.title = "Function",
             .key = "function",
             .width = 12,
             .left = true,
             .separated = true,
             .fitted = true},
            [](const CoverRow& row) { return row.name; });
  const auto number = [&](const char* title, const char* key, auto get) {
    table.add({.title = title, .key = key, .width = 8},
              [get](const CoverRow& row) { return std::uint64_t{get(row.sums)}; });
  };
  number("Blocks", "blocks", [](const CoverSums& sums) { return sums.blocks; });
  number("Seen", "seen", [](const CoverSums& sums) { return sums.seen; });
  number("Derived", "derived", [](const CoverSums& sums) { return sums.derived; });
  number("Missed", "missed", [](const CoverSums& sums) { return sums.missed; });
  number("Unknown", "unknown", [](const CoverSums& sums) { return sums.unknown; });
  table.add({.title = "Executed", .key = "executed_percent", .width = 10},
            [](const CoverRow& row) { return percent_of(row.sums); });
  return table;
}

// ---- source lines ----

struct LineHits {
  std::map<std::uint32_t, bool> lines;                              // whether it was executed
  std::map<std::string, std::pair<std::uint32_t, bool>> functions;  // their first lines
};

// Returns what is known of each source file, by its index. A line of an unknown block is left out,
// unless it is one of others, too.
std::map<std::uint32_t, LineHits> lines_of_files(const Coverage& coverage) {
  std::map<std::uint32_t, LineHits> files;
  for (const auto& [function, covered] : coverage.functions) {
    bool is_first = true;
    for (const auto& line : covered.lines) {
      const Covered block = covered.blocks[line.block];
      if (line.block == 0 && is_first) {
        auto& [number, hit] = files[line.file].functions[function.name];
        number = line.number;
        hit |= is_entered(covered);
        is_first = false;
      }
      if (block != Covered::unknown) files[line.file].lines[line.number] |= is_hit(block);
    }
  }
  return files;
}

Status check_lines(const Coverage& coverage) {
  if (!coverage.files.empty()) return Done{};
  return Error{ErrorCode::absent,
               "no source lines are known: they were recorded without the kernel's debug "
               "information (install linux-image-RELEASE-dbg, or record with --debug FILE)"};
}

template <class Map>
std::size_t count_hits(const Map& lines) {
  return static_cast<std::size_t>(
      std::ranges::count_if(lines, [](const auto& line) { return line.second; }));
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// ---- differences ----

// Returns the blocks that one has executed and the other has missed, as "3, 5 (fs/open.c:120)".
std::string blocks_only_in(const Coverage& coverage, const FunctionCoverage& one,
                           const FunctionCoverage& other) {
  std::string text;
  for (std::uint32_t i = 0; i < one.blocks.size(); i++) {
    if (!is_hit(one.blocks[i]) || !is_missed(other.blocks[i])) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(i);
    const auto line =
        std::ranges::find_if(one.lines, [i](const auto& each) { return each.block == i; });
    if (line != one.lines.end()) {
      text += fmt::format(" ({}:{})", coverage.files[line->file], line->number);
    }
  }
  return text;
}

// Returns whether there was something.
bool write_only_in(TextWriter& out, const char* title, const Coverage& one, const Coverage& other) {
  bool is_any = false;
  for (const auto& [function, covered] : one.functions) {
    const auto found = other.functions.find(function);
    if (found == other.functions.end() || found->second.blocks.size() != covered.blocks.size()) {
      continue;
    }
    const std::string blocks = blocks_only_in(one, covered, found->second);
    if (blocks.empty()) continue;
    if (!is_any) out.put(title);
    is_any = true;
    const bool is_whole = !is_entered(found->second);
    out.escaped(fmt::format("  {} {}: {}", owner_of(function), function.name,
                            is_whole ? "the whole function, blocks " : "blocks "));
    out.escaped(blocks);
    out.put('\n');
  }
  return is_any;
}

}  // namespace

void write_cover_text(TextWriter& out, const Coverage& coverage) {
  const auto rows = rows_of(coverage);
  if (!rows.empty()) {
    write_text(out, cover_table(rows), TimeFormat{});
    out.put('\n');
  }
  const CoverSums sums = sums_of(coverage);
  out.put(
      fmt::format("{} of {} functions were entered; {} of {} blocks executed ({:.1f} %): {} "
                  "seen, {} derived; {} missed, {} unknown\n",
                  rows.size(), coverage.functions.size(), sums.hit(), sums.blocks, sums.share(),
                  sums.seen, sums.derived, sums.missed, sums.unknown));
}

void write_cover_json(TextWriter& out, const Coverage& coverage) {
  const CoverSums sums = sums_of(coverage);
  JsonWriter json(out);
  json.object([&] {
    json.members("kernel", coverage.kernel, "commands", coverage.commands, "blocks", sums.blocks,
                 "seen", sums.seen, "derived", sums.derived, "missed", sums.missed, "unknown",
                 sums.unknown);
    json.key("functions").array([&] {
      for (const auto& [function, covered] : coverage.functions) {
        std::string blocks;
        for (const Covered block : covered.blocks) blocks += static_cast<char>(block);
        json.begin_line();
        json.object("name", function.name, "module", function.module, "file",
                    where_of(coverage, function, covered), "blocks", blocks);
      }
    });
  });
  out.put('\n');
}

Status write_lcov(TextWriter& out, const Coverage& coverage) {
  FKT_TRY(check_lines(coverage));
  for (const auto& [file, hits] : lines_of_files(coverage)) {
    out.put(fmt::format("TN:\nSF:{}\n", coverage.files[file]));
    std::size_t entered = 0;
    for (const auto& [name, function] : hits.functions) {
      out.put(
          fmt::format("FN:{},{}\nFNDA:{},{}\n", function.first, name, int{function.second}, name));
      entered += function.second;
    }
    out.put(fmt::format("FNF:{}\nFNH:{}\n", hits.functions.size(), entered));
    for (const auto& [number, hit] : hits.lines)
      out.put(fmt::format("DA:{},{}\n", number, int{hit}));
    out.put(
        fmt::format("LF:{}\nLH:{}\nend_of_record\n", hits.lines.size(), count_hits(hits.lines)));
  }
  return Done{};
}

Status write_cobertura(TextWriter& out, const Coverage& coverage) {
  FKT_TRY(check_lines(coverage));
  const auto files = lines_of_files(coverage);
  std::size_t lines = 0, hit_lines = 0;
  for (const auto& [file, hits] : files) {
    lines += hits.lines.size();
    hit_lines += count_hits(hits.lines);
  }
  const auto rate = [](std::size_t hit, std::size_t all) {
    return all == 0 ? 0.0 : static_cast<double>(hit) / static_cast<double>(all);
  };
  out.put(
      fmt::format("<?xml version=\"1.0\"?>\n<coverage line-rate=\"{:.4f}\" lines-covered=\"{}\" "
                  "lines-valid=\"{}\" branch-rate=\"0\" complexity=\"0\" version=\"1\" "
                  "timestamp=\"0\">\n<packages><package name=\"kernel\" line-rate=\"{:.4f}\" "
                  "branch-rate=\"0\" complexity=\"0\"><classes>\n",
                  rate(hit_lines, lines), hit_lines, lines, rate(hit_lines, lines)));
  for (const auto& [file, hits] : files) {
    const std::string name = xml(coverage.files[file]);
    out.put(
        fmt::format("<class name=\"{}\" filename=\"{}\" line-rate=\"{:.4f}\" branch-rate=\"0\" "
                    "complexity=\"0\"><methods/><lines>\n",
                    name, name, rate(count_hits(hits.lines), hits.lines.size())));
    for (const auto& [number, hit] : hits.lines) {
      out.put(fmt::format("<line number=\"{}\" hits=\"{}\"/>\n", number, int{hit}));
    }
    out.put("</lines></class>\n");
  }
  out.put("</classes></package></packages></coverage>\n");
  return Done{};
}

Status write_cover_diff(TextWriter& out, const Coverage& one, const Coverage& other) {
  if (one.kernel != other.kernel) {
    return Error{ErrorCode::usage, "they are of two kernels: " + one.kernel + ", " + other.kernel};
  }
  bool is_any = write_only_in(out, "only the first one has executed:\n", one, other);
  is_any |= write_only_in(out, "only the second one has executed:\n", other, one);
  if (!is_any) out.put("neither has executed what the other one has missed\n");
  return Done{};
}

}  // namespace fkt
