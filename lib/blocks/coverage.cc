// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/coverage.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "lib/base/json_writer.h"
#include "lib/base/read_file.h"
#include "lib/format/json.h"

namespace fkt {
namespace {

using nlohmann::json;

constexpr std::uint64_t kCoverageVersion = 1;

Covered together(Covered one, Covered other) {
  for (const Covered hit : {Covered::hit, Covered::derived_hit}) {
    if (one == hit || other == hit) return hit;
  }
  if (!is_missed(one) || !is_missed(other)) return Covered::unknown;
  return one == other ? one : Covered::derived_missed;
}

bool is_covered_letter(char c) {
  return std::string_view("?hmHM").find(c) != std::string_view::npos;
}

void write_function(JsonWriter& json, const CoveredFunction& function,
                    const FunctionCoverage& covered) {
  std::string blocks;
  for (const Covered block : covered.blocks) blocks += static_cast<char>(block);
  json.object([&] {
    json.members("name", function.name, "module", function.module, "section", function.section,
                 "offset", function.offset, "blocks", blocks);
    json.key("lines").array([&] {
      for (const auto& line : covered.lines) json.row(line.file, line.number, line.block);
    });
  });
}

// Reads values, which must be of the types that the file's writer gave them: else is_good becomes
// false.
class CoverageReader {
 public:
  bool is_good = true;

  std::string text(const json& object, const char* key) {
    const auto found = find(object, key);
    return found != nullptr && check(found->is_string()) ? found->get<std::string>() : "";
  }
  std::uint64_t number(const json& object, const char* key) {
    const auto found = find(object, key);
    return found != nullptr ? number(*found) : 0;
  }
  std::uint64_t number(const json& value) {
    return check(value.is_number_unsigned()) ? value.get<std::uint64_t>() : 0;
  }
  const json& list(const json& object, const char* key) {
    const auto found = find(object, key);
    return found != nullptr && check(found->is_array()) ? *found : nothing_;
  }
  std::vector<std::string> texts(const json& object, const char* key) {
    std::vector<std::string> texts;
    for (const json& value : list(object, key)) {
      if (check(value.is_string())) texts.push_back(value.get<std::string>());
    }
    return texts;
  }
  bool check(bool is_right) {
    is_good &= is_right;
    return is_right;
  }

 private:
  const json* find(const json& object, const char* key) {
    if (!check(object.is_object())) return nullptr;
    const auto found = object.find(key);
    return check(found != object.end()) ? &*found : nullptr;
  }

  const json nothing_ = json::array();
};

FunctionCoverage read_function(CoverageReader& read, const json& object, std::size_t files) {
  FunctionCoverage covered;
  for (const char c : read.text(object, "blocks")) {
    if (read.check(is_covered_letter(c))) covered.blocks.push_back(static_cast<Covered>(c));
  }
  for (const json& line : read.list(object, "lines")) {
    if (!read.check(line.is_array() && line.size() == 3)) continue;
    const auto file = read.number(line[0]), number = read.number(line[1]),
               block = read.number(line[2]);
    if (!read.check(file < files && block < covered.blocks.size() && number <= UINT32_MAX)) {
      continue;
    }
    covered.lines.push_back({static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(number),
                             static_cast<std::uint32_t>(block)});
  }
  return covered;
}

}  // namespace

std::optional<CoveredFunction> CoveredFunction::of(const CodeImage& image,
                                                   const CodeFunction& function) {
  const auto origin = image.origin_of(function.begin);
  if (!origin) return std::nullopt;
  return CoveredFunction{std::string(function.module), std::string(origin->section), origin->offset,
                         std::string(function.name)};
}

CountFlow Coverage::counts(const CodeImage& image, const FlowGraph& graph) const {
  CountFlow flow(graph);
  const auto function = CoveredFunction::of(image, graph.function());
  const auto found = function ? functions.find(*function) : functions.end();
  if (found == functions.end()) return flow;
  const auto& blocks = found->second.blocks;
  for (std::uint32_t i = 0; i < graph.blocks().size() && i < blocks.size(); i++) {
    if (blocks[i] != Covered::unknown) flow.know(i, is_hit(blocks[i]) ? 1 : 0);
  }
  return flow;
}

std::uint32_t Coverage::file(std::string_view name) {
  const auto found = indexes_.find(name);
  if (found != indexes_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(files.size());
  files.emplace_back(name);
  indexes_.emplace(name, index);
  return index;
}

Status Coverage::add(const Coverage& other) {
  const Error differs{ErrorCode::usage, "it is of another kernel (" + other.kernel + ")"};
  if (kernel != other.kernel) return differs;
  for (const auto& [function, covered] : other.functions) {
    const auto [at, is_new] = functions.try_emplace(function);
    FunctionCoverage& mine = at->second;
    if (is_new) {
      mine.blocks = covered.blocks;
    } else if (mine.blocks.size() != covered.blocks.size()) {
      return differs;
    } else {
      std::ranges::transform(mine.blocks, covered.blocks, mine.blocks.begin(), together);
    }
    if (!mine.lines.empty()) continue;
    for (auto line : covered.lines) {
      line.file = file(other.files[line.file]);
      mine.lines.push_back(line);
    }
  }
  commands.insert(commands.end(), other.commands.begin(), other.commands.end());
  return Done{};
}

void Coverage::write(TextWriter& out) const {
  JsonWriter json(out);
  json.object([&] {
    json.members("fkt_coverage", kCoverageVersion, "kernel", kernel, "commands", commands, "files",
                 files);
    json.key("functions").array([&] {
      for (const auto& [function, covered] : functions) {
        json.begin_line();
        write_function(json, function, covered);
      }
    });
  });
  out.put('\n');
}

Result<Coverage> Coverage::read(const std::string& path) {
  return parse(FKT_TRY(read_file(path)), path);
}

Result<Coverage> Coverage::parse(std::string_view text, const std::string& name) {
  const json document = parse_json(text);
  if (!document.is_object() || !document.contains("fkt_coverage")) {
    return Error{ErrorCode::format,
                 name + ": not a coverage (fkt_cover -o FILE COMMAND makes one)"};
  }
  CoverageReader read;
  if (read.number(document, "fkt_coverage") > kCoverageVersion) {
    return Error{ErrorCode::version, name + ": written by a newer fkt_cover"};
  }
  Coverage coverage;
  coverage.kernel = read.text(document, "kernel");
  coverage.commands = read.texts(document, "commands");
  const auto files = read.texts(document, "files");
  for (const std::string& file : files) coverage.file(file);
  read.check(coverage.files.size() == files.size());
  for (const json& object : read.list(document, "functions")) {
    CoveredFunction function{read.text(object, "module"), read.text(object, "section"),
                             read.number(object, "offset"), read.text(object, "name")};
    coverage.functions[std::move(function)] = read_function(read, object, coverage.files.size());
  }
  if (!read.is_good) return Error{ErrorCode::damaged, name + ": a damaged coverage"};
  return coverage;
}

}  // namespace fkt
