// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/symbol_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "lib/base/parse.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

// Words of KFT's language that may also be names of functions.
constexpr std::array<std::string_view, 34> kKftWords = {
    "new",   "begin", "end",      "trigger",    "start",      "stop",      "entry",
    "exit",  "time",  "filter",   "mintime",    "maxtime",    "noints",    "onlyints",
    "fend",  "watch", "funclist", "stack",      "logentries", "overwrite", "untimed",
    "prime", "reset", "depth",    "autorepeat", "caller",     "keep",      "children",
    "cpu",   "task",  "uid",      "cgroup",     "cputime",    "worst"};

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

bool is_function(const Symbol& symbol) {
  return symbol.type == 'T' || symbol.type == 't' || symbol.type == 'W' || symbol.type == 'w';
}

// Returns whether the word is only a part of what a configuration of KFT has there: of a pattern,
// or of a module's name.
bool is_part(std::string_view line, std::string_view word) {
  constexpr std::string_view kJoins = "*?:-";
  const auto begin = static_cast<std::size_t>(word.data() - line.data());
  const std::size_t end = begin + word.size();
  return (begin > 0 && kJoins.find(line[begin - 1]) != kJoins.npos) ||
         (end < line.size() && kJoins.find(line[end]) != kJoins.npos);
}

// Calls word(text, is_part) for each word and returns the line with what it returned in their
// places.
template <class Word>
std::string with_words(std::string_view line, Word word) {
  const std::string_view whole = line;
  std::string out;
  while (!line.empty()) {
    const auto begin = std::ranges::find_if(line, is_word_character);
    auto end = std::find_if_not(begin, line.end(), is_word_character);
    while (end - begin > 1 && end[-1] == '.') end--;  // a sentence's
    out.append(line.begin(), begin);
    if (begin != end) {
      const std::string_view found(begin, end);
      out += word(found, is_part(whole, found));
    }
    line = std::string_view(end, line.end());
  }
  return out;
}

bool parse_address(std::string_view word, std::uint64_t& address) {
  if (word.starts_with("0x") || word.starts_with("0X")) {
    word.remove_prefix(2);
  } else if (word.size() != 8 && word.size() != 16) {
    return false;
  }
  return word.size() <= 16 && parse_number(word, address, 16);
}

}  // namespace

AddressWords::AddressWords(Symbols symbols) : symbols_(std::move(symbols)) {
  const auto first = std::ranges::find_if(symbols_.all(), is_function);
  if (first != symbols_.all().end()) first_ = first->address;
}

std::string AddressWords::translated(std::string_view line) const {
  return with_words(line, [this](std::string_view word, bool) {
    std::uint64_t address = 0;
    if (!parse_address(word, address) || address < first_) return std::string(word);
    const Symbol* const symbol = symbols_.at(address);
    if (!symbol) return std::string(word);
    std::string name(symbol->name);
    return address == symbol->address ? name : name + '+' + hex(address - symbol->address);
  });
}

NameWords::NameWords(Symbols symbols) : symbols_(std::move(symbols)) {
  for (const Symbol& symbol : symbols_.all()) {
    if (is_function(symbol)) addresses_[symbol.name].push_back(symbol.address);
  }
  for (const std::string_view word : kKftWords) addresses_.erase(word);
}

// Returns whether this word stands where a configuration has a function.
bool NameWords::is_place(std::string_view word) {
  const bool is_place = in_list_ || is_next_;
  in_list_ = word == "funclist" || (in_list_ && word != "fend");
  is_next_ = word == "entry" || word == "exit" || word == "caller";
  const bool is_kft = std::ranges::find(kKftWords, word) != kKftWords.end();
  return is_place && !is_kft && std::isdigit(static_cast<unsigned char>(word.front())) == 0;
}

std::string NameWords::word(std::string_view name, bool is_part) {
  const bool is_function = is_place(name) && !is_part;
  const auto found = addresses_.find(name);
  if (found == addresses_.end()) {
    if (is_function) unknown_.emplace(name);
    return std::string(name);
  }
  if (found->second.size() == 1) {
    replaced_++;
    return hex(found->second.front());
  }
  ambiguous_.emplace(name, found->second);
  return std::string(name);
}

std::string NameWords::translated(std::string_view line) {
  const std::string_view code = line.substr(0, line.find('#'));
  return with_words(code, [this](std::string_view name, bool part) { return word(name, part); }) +
         std::string(line.substr(code.size()));
}

}  // namespace fkt
