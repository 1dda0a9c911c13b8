// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/layer_file.h"

#include <algorithm>
#include <optional>

#include <fkt/events.h>

#include "lib/base/parse.h"
#include "lib/base/suggest.h"
#include "lib/format/catalogue.h"
#include "lib/format/layer_mask.h"
#include "lib/instrument/line_scanner.h"

namespace fkt {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// Returns the line without its comment.
std::string_view without_comment(std::string_view line) {
  char quote = '\0';
  for (std::size_t at = 0; at < line.size(); at++) {
    const char c = line[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (at == 0 || kBlanks.find(line[at - 1]) != kBlanks.npos)) {
      return line.substr(0, at);
    }
  }
  return line;
}

// Replaces the word at the line's begin by blanks if it is `word`: what follows keeps its columns.
bool take_first(std::string& line, std::string_view word) {
  const std::size_t begin = line.find_first_not_of(kBlanks);
  const std::size_t end = begin + word.size();
  const bool is_there = std::string_view(line).substr(begin).starts_with(word) &&
                        (end == line.size() || kBlanks.find(line[end]) != kBlanks.npos);
  if (is_there) line.replace(begin, word.size(), word.size(), ' ');
  return is_there;
}

class LayerFileParser {
 public:
  explicit LayerFileParser(const std::string& path) {
    file_.path = path;
    file_.bit = FKT_L_INSTRUMENTS;
  }

  Result<LayerFile> parse(std::string_view text) {
    for (std::size_t number = 1; !text.empty(); number++) {
      const Status taken = take(std::string(without_comment(take_until(text, '\n'))), number);
      if (!taken) return Error{ErrorCode::usage, located(number, taken.error().message)};
    }
    if (file_.lines.empty()) {
      return Error{ErrorCode::usage,
                   file_.path + ": no instrument: write one per line, as call:vfs_read ret"};
    }
    return std::move(file_);
  }

 private:
  // Makes "PATH:12:5: what" of "column 5: what".
  std::string located(std::size_t number, std::string_view message) const {
    const std::string line = file_.path + ':' + std::to_string(number) + ':';
    const std::size_t column = take_column(message);
    return line + (column != 0 ? std::to_string(column) + ": " : " ") + std::string(message);
  }

  Status take(std::string line, std::size_t number) {
    const std::size_t end = line.find_last_not_of(kBlanks);
    if (end == line.npos) return Done{};
    line.resize(end + 1);
    if (take_first(line, "layer")) return take_layer(line);
    LayerLine made;
    made.number = number;
    const std::size_t begin = line.find_first_not_of(kBlanks);
    made.may_be_missing = take_first(line, "?");
    if (!is_empty(line)) made.is_alternative = take_first(line, "or");
    if (is_empty(line)) return at_column(begin + 1, "an instrument is missing, as call:vfs_read");
    if (made.is_alternative && file_.lines.empty()) {
      return at_column(begin + 1, "\"or\" stands before an alternative to the line above it");
    }
    auto instrument = FKT_TRY(Instrument::parse(line));
    instrument.text = line.substr(line.find_first_not_of(kBlanks));
    const auto before = std::ranges::find(
        file_.lines, instrument.text, [](const LayerLine& known) { return known.instrument.text; });
    if (before != file_.lines.end()) {
      return at_column(begin + 1, "line " + std::to_string(before->number) + " has it already");
    }
    made.instrument = std::move(instrument);
    file_.lines.push_back(std::move(made));
    return Done{};
  }

  static bool is_empty(const std::string& line) {
    return line.find_first_not_of(kBlanks) == line.npos;
  }

  Status take_layer(const std::string& line) {
    LineScanner scanner(line, 1);
    const std::size_t column = scanner.column();
    const std::string_view name = scanner.take_until("");
    if (has_layer_ || !file_.lines.empty()) {
      return at_column(column, "a file is for one layer, which it names before its instruments");
    }
    const Layer* const layer = Catalogue::builtin().layer(name);
    if (layer == nullptr || !is_list_layer(layer->bit)) {
      return at_column(column, in_quotes(name) + " is no layer of instruments" +
                                   did_you_mean(name, list_layer_names()));
    }
    if (!scanner.at_end()) return scanner.expected("the end of the line");
    file_.layer = layer->name;
    file_.bit = layer->bit;
    has_layer_ = true;
    return Done{};
  }

  LayerFile file_;
  bool has_layer_ = false;
};

}  // namespace

Result<LayerFile> LayerFile::parse(std::string_view text, const std::string& path) {
  return LayerFileParser(path).parse(text);
}

}  // namespace fkt
