// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/place.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "lib/base/parse.h"
#include "lib/base/suggest.h"
#include "lib/query/expression.h"
#include "lib/query/lexer.h"

namespace fkt {
namespace {

struct PlaceForm {
  std::string_view name;
  Place::Kind kind;
  const char* form;
};

constexpr PlaceForm kPlaceForms[] = {
    {"call", Place::Kind::call, "call:[MODULE:]FUNCTION"},
    {"fn", Place::Kind::function, "fn:[MODULE:]FUNCTION[:entry|:exit]"},
    {"tp", Place::Kind::tracepoint, "tp:SYSTEM:EVENT"},
    {"sys", Place::Kind::call, "sys:NAME"},
    {"at", Place::Kind::instruction, "at:FUNCTION+OFFSET"},
    {"block", Place::Kind::block, "block:[MODULE:]FUNCTION:NUMBER[:exit]"},
    {"edge", Place::Kind::edge, "edge:[MODULE:]FUNCTION:FROM-TO"},
    {"line", Place::Kind::line, "line:[MODULE:]FILE:NUMBER"},
    {"mod", Place::Kind::module_probe, "mod:MODULE:PROBE"},
    {"user", Place::Kind::user_function, "user:FILE:FUNCTION[:entry|:exit|:call]"},
    {"usdt", Place::Kind::user_probe, "usdt:FILE:[PROVIDER:]PROBE"},
};

// What ends or divides a name, or stands for others, is written with a backslash before it.
constexpr std::string_view kWithBackslash = " \t,:()\"'\\!";
constexpr char kBackslash = '\\';

// Returns the text without the backslashes. A `*` or `?` of a name becomes the pattern of one
// character.
std::string without_backslashes(std::string_view text, bool is_pattern) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); i++) {
    const bool literal = text[i] == kBackslash && i + 1 < text.size();
    const char c = literal ? text[++i] : text[i];
    out += literal && is_pattern && c == '*' ? '?' : c;
  }
  return out;
}

bool is_pattern_character(char c) {
  return is_name_character(c) || c == '*' || c == '?' || c == '.';
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const PlaceForm& kind : kPlaceForms) names.emplace_back(kind.name);
  return names;
}

class PlaceParser {
 public:
  PlaceParser(std::string_view text, std::size_t column) : text_(text), column_(column) {}

  Result<Place> parse() {
    const std::size_t colon = text_.find(':');
    const std::string_view name = text_.substr(0, colon);
    const PlaceForm* const kind = std::ranges::find(kPlaceForms, name, &PlaceForm::name);
    if (colon == text_.npos || kind == std::end(kPlaceForms)) return no_kind(name);
    place_.kind = kind->kind;
    place_.is_system_call = name == "sys";
    FKT_TRY(rest(*kind, colon + 1));
    return std::move(place_);
  }

 private:
  static constexpr const char* kOfKinds =
      "a place begins with sys:, call:, fn:, tp:, at:, block:, edge:, line:, mod:, user: or usdt:";

  Error no_kind(std::string_view name) const {
    const std::string kinds = kOfKinds;
    if (text_.empty()) return at_column(column_, "no place: " + kinds);
    const std::string guess = name.size() < text_.size() ? did_you_mean(name, kind_names()) : "";
    return at_column(column_, in_quotes(text_) + " is no place: " + kinds + guess);
  }
  Error form(const PlaceForm& kind) const {
    return at_column(column_, in_quotes(text_) + " is no place: write " + kind.form);
  }

  Status rest(const PlaceForm& kind, std::size_t from) {
    std::vector<Piece> pieces = split(from, ':');
    if (place_.kind == Place::Kind::instruction) return instruction(kind, from);
    if (is_of_program()) return user(kind, pieces);
    if (place_.is_in_code()) return in_code(kind, pieces);
    if (place_.kind == Place::Kind::function && pieces.size() > 1) take_point(pieces);
    const bool has_group = pieces.size() == 2;
    if (pieces.size() > 2 || has_group != wants_group(has_group)) return form(kind);
    if (has_group) {
      FKT_TRY(group(pieces[0]));
    }
    return names(pieces.back());
  }

  // Returns whether a place of this kind has a module or system before the names.
  bool wants_group(bool has_group) const {
    switch (place_.kind) {
      case Place::Kind::call:
      case Place::Kind::function:
        return has_group && !place_.is_system_call;  // optional
      default:
        return true;
    }
  }

  std::vector<Piece> split(std::size_t from, char separator) const {
    return split({text_.substr(from), column_ + from}, separator);
  }
  // Returns whether the name is a program's: any text can be one.
  bool is_of_program() const {
    return place_.kind == Place::Kind::user_function || place_.kind == Place::Kind::user_probe;
  }
  // Returns the position of the next separator; of a program's names neither one behind a backslash
  // nor "::", which is in names of C++.
  std::size_t find(std::string_view text, char separator, std::size_t from) const {
    if (!is_of_program()) return std::min(text.find(separator, from), text.size());
    for (; from < text.size() && text[from] != separator; from++) {
      if (text[from] == kBackslash) from++;
    }
    const bool is_double =
        separator == ':' && text.substr(std::min(from, text.size())).starts_with("::");
    return is_double ? find(text, separator, from + 2) : std::min(from, text.size());
  }
  std::vector<Piece> split(Piece whole, char separator) const {
    std::vector<Piece> pieces;
    for (std::size_t begin = 0;;) {
      const std::size_t end = find(whole.text, separator, begin);
      pieces.push_back({whole.text.substr(begin, end - begin), whole.column + begin});
      if (end == whole.text.size()) return pieces;
      begin = end + 1;
    }
  }

  void take_point(std::vector<Piece>& pieces) {
    const std::string_view last = pieces.back().text;
    const bool is_call = last == "call" && place_.kind == Place::Kind::user_function;
    if (last != "entry" && last != "exit" && !is_call) return;
    place_.point = is_call           ? Place::Point::call
                   : last == "entry" ? Place::Point::entry
                                     : Place::Point::exit;
    pieces.pop_back();
  }

  Status group(Piece piece) {
    const bool is_probes = place_.kind == Place::Kind::module_probe;
    const bool is_file = is_probes && piece.text.find('/') != piece.text.npos;
    const Status checked = check(piece, "a module or system", [&](char c) {
      return is_file || is_name_character(c) || c == '-' || (is_probes && is_pattern_character(c));
    });
    if (checked) place_.group = piece.text;
    return checked;
  }

  // Checks that the piece is not empty and consists of the right characters.
  template <class Belongs>
  static Status check(Piece piece, const std::string& what, Belongs belongs) {
    if (piece.text.empty()) {
      return at_column(piece.column, "the name of " + what + " is missing");
    }
    const auto wrong = std::ranges::find_if_not(piece.text, belongs);
    if (wrong == piece.text.end()) return Done{};
    return at_column(piece.column + static_cast<std::size_t>(wrong - piece.text.begin()),
                     in_quotes({&*wrong, 1}) + " cannot be in the name of " + what);
  }

  // Checks the name of a program or of its function, in which a backslash escapes a character.
  Status check_program(Piece piece) const {
    if (piece.text.empty()) return check(piece, what(), is_pattern_character);
    for (std::size_t at = 0; at < piece.text.size(); at++) {
      const char c = piece.text[at];
      if (c == kBackslash && at + 1 < piece.text.size()) {
        at++;
      } else if (kWithBackslash.find(c) != kWithBackslash.npos && c != ':' && c != '!') {
        return at_column(piece.column + at, in_quotes({&c, 1}) + " in the name of " + what() +
                                                " is written " +
                                                in_quotes(std::string{kBackslash, c}));
      }
    }
    return Done{};
  }

  const char* what() const {
    switch (place_.kind) {
      case Place::Kind::tracepoint:
        return "a tracepoint";
      case Place::Kind::module_probe:
      case Place::Kind::user_probe:
        return "a probe";
      default:
        return place_.is_system_call ? "a system call" : "a function";
    }
  }

  std::string_view prefix() const { return place_.is_system_call ? kSystemCallPrefix : ""; }

  Status names(Piece list) {
    for (Piece piece : split(list, ',')) {
      const bool leaves_out = piece.text.starts_with('!');
      if (leaves_out) {
        piece.text.remove_prefix(1);
        piece.column++;
      }
      FKT_TRY(is_of_program() ? check_program(piece) : check(piece, what(), is_pattern_character));
      (leaves_out ? place_.names.left_out : place_.names.patterns)
          .push_back(is_of_program() ? without_backslashes(piece.text, true)
                                     : std::string(prefix()).append(piece.text));
    }
    if (!place_.names.patterns.empty()) return Done{};
    return at_column(list.column,
                     "everything is left out: write \"*,\" before it for all but these");
  }

  // A single name, for what is in a function.
  Status name(Piece piece) {
    const Status checked =
        check(piece, what(), [](char c) { return is_name_character(c) || c == '.'; });
    if (checked) place_.names.patterns.emplace_back(piece.text);
    return checked;
  }

  Status number(Piece piece) {
    const bool hex = piece.text.starts_with("0x");
    if (hex ? parse_number(piece.text.substr(2), place_.number, 16)
            : parse_number(piece.text, place_.number)) {
      return Done{};
    }
    return at_column(piece.column, in_quotes(piece.text) + " is no number (as 28 or 0x1c)");
  }

  Status instruction(const PlaceForm& kind, std::size_t from) {
    const std::vector<Piece> pieces = split(from, '+');
    if (pieces.size() != 2) return form(kind);
    const Status named = name(pieces[0]);
    return named ? number(pieces[1]) : named;
  }

  // Blocks, edges and lines: what they are of is before their numbers.
  Status in_code(const PlaceForm& kind, std::vector<Piece>& pieces) {
    if (place_.kind == Place::Kind::block && pieces.size() > 2) take_point(pieces);
    if (pieces.size() != 2 && pieces.size() != 3) return form(kind);
    if (pieces.size() == 3) FKT_TRY(group(pieces[0]));
    const Piece of = pieces[pieces.size() - 2], numbers = pieces.back();
    if (place_.kind == Place::Kind::edge) {
      const std::vector<Piece> ends = split(numbers, '-');
      if (ends.size() != 2) return form(kind);
      FKT_TRY(name(of));
      FKT_TRY(number(ends[1]));
      place_.to = place_.number;
      return number(ends[0]);
    }
    FKT_TRY(place_.kind == Place::Kind::line ? file(of) : names(of));
    place_.is_every = place_.kind == Place::Kind::block && numbers.text == "*";
    return place_.is_every ? Status(Done{}) : number(numbers);
  }

  // The end of a source file's path.
  Status file(Piece piece) {
    const Status checked = check(piece, "a source file", [](char c) {
      return is_name_character(c) || c == '.' || c == '/' || c == '-' || c == '+';
    });
    if (checked) place_.names.patterns.emplace_back(piece.text);
    return checked;
  }

  // The path may have colons in it; the last one ends it.
  Status user(const PlaceForm& kind, std::vector<Piece>& pieces) {
    place_.point = Place::Point::entry;
    if (place_.kind == Place::Kind::user_function && pieces.size() > 2) take_point(pieces);
    if (pieces.size() < 2) return form(kind);
    const Piece list = pieces.back();
    pieces.pop_back();
    if (place_.kind == Place::Kind::user_probe && pieces.size() > 1 &&
        pieces.back().text.find('/') == std::string_view::npos) {
      place_.provider = without_backslashes(pieces.back().text, false);
      pieces.pop_back();
    }
    const Piece& first = pieces.front();
    const std::size_t length = pieces.back().column + pieces.back().text.size() - first.column;
    place_.group = without_backslashes(text_.substr(first.column - column_, length), false);
    if (place_.group.empty()) {
      return at_column(first.column, "the name of a program or library is missing");
    }
    if (place_.group.find('/') != place_.group.npos && !place_.group.starts_with('/')) {
      return at_column(first.column,
                       in_quotes(place_.group) + " is no name and no path that begins with \"/\"");
    }
    return names(list);
  }

  std::string_view text_;
  std::size_t column_;
  Place place_;
};

}  // namespace

std::string typed_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    // Of these only the first one of a name says something.
    if (kWithBackslash.find(c) != kWithBackslash.npos && (c != '!' || out.empty()))
      out += kBackslash;
    out += c;
  }
  return out;
}

bool NameSet::has(std::string_view name, std::string_view other) const {
  const auto fit = [&](const std::string& pattern) {
    return fits(name, pattern) || (!other.empty() && fits(other, pattern));
  };
  return std::ranges::any_of(patterns, fit) && std::ranges::none_of(left_out, fit);
}

bool NameSet::is_one_name() const {
  return patterns.size() == 1 && left_out.empty() &&
         patterns[0].find_first_of("*?") == std::string::npos;
}

Result<Place> parse_place(std::string_view text, std::size_t column) {
  return PlaceParser(text, column).parse();
}

}  // namespace fkt
