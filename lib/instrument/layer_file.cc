// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/layer_file.h"

#include <algorithm>
#include <optional>

#include <fkt/events.h>

#include "lib/base/parse.h"
#include "lib/base/suggest.h"
#include "lib/format/catalogue.h"
#include "lib/format/layer_mask.h"
#include "lib/query/lexer.h"

namespace fkt {
namespace {

// Returns the line without its comment and the blanks behind it.
std::string_view without_comment(std::string_view line) {
  static constexpr std::string_view kBlanks = " \t\r";
  Lexer lexer({line, 0});
  while (!lexer.at_end()) {
    const std::size_t at = lexer.column();
    if (lexer.peek() == '#' && (at == 0 || kBlanks.find(line[at - 1]) != kBlanks.npos)) {
      line = line.substr(0, at);
      break;
    }
    if (lexer.take_quoted().empty()) lexer.take_until("\"'");
  }
  return line.substr(0, line.find_last_not_of(kBlanks) + 1);
}

class LayerFileParser {
 public:
  explicit LayerFileParser(const std::string& path) {
    file_.path = path;
    file_.bit = FKT_L_INSTRUMENTS;
  }

  Result<LayerFile> parse(std::string_view text) {
    for (std::size_t number = 1; !text.empty(); number++) {
      const Status taken = take(without_comment(take_until(text, '\n')), number);
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

  Status take(std::string_view line, std::size_t number) {
    Lexer lexer({line, 1});
    if (lexer.at_end()) return Done{};
    const std::size_t begin = lexer.column();
    if (lexer.take_alone("layer")) return take_layer(lexer);
    LayerLine made;
    made.number = number;
    made.may_be_missing = lexer.take_alone("?");
    made.is_alternative = lexer.take_alone("or");
    if (lexer.at_end()) return at_column(begin, "an instrument is missing, as call:vfs_read");
    if (made.is_alternative && file_.lines.empty()) {
      return at_column(begin, "\"or\" stands before an alternative to the line above it");
    }
    const std::size_t column = lexer.column();
    auto instrument = FKT_TRY(Instrument::parse(lexer.rest(), column));
    const auto before = std::ranges::find(
        file_.lines, instrument.text, [](const LayerLine& known) { return known.instrument.text; });
    if (before != file_.lines.end()) {
      return at_column(begin, "line " + std::to_string(before->number) + " has it already");
    }
    made.instrument = std::move(instrument);
    file_.lines.push_back(std::move(made));
    return Done{};
  }

  Status take_layer(Lexer& lexer) {
    const std::size_t column = lexer.column();
    const std::string_view name = lexer.take_until("");
    if (has_layer_ || !file_.lines.empty()) {
      return at_column(column, "a file is for one layer, which it names before its instruments");
    }
    const Layer* const layer = Catalogue::builtin().layer(name);
    if (layer == nullptr || !is_list_layer(layer->bit)) {
      return at_column(column, in_quotes(name) + " is no layer of instruments" +
                                   did_you_mean(name, list_layer_names()));
    }
    if (!lexer.at_end()) return lexer.expected("the end of the line");
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
