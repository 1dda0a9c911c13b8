// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/sources/tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace fkt::test {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  const auto skip_to = [&](std::string_view end) {
    const std::size_t at = text.find(end);
    text.remove_prefix(at == text.npos ? text.size() : at + end.size());
  };
  bool begins_line = true;
  while (!text.empty()) {
    const char c = text.front();
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      begins_line |= c == '\n';
      text.remove_prefix(1);
      continue;
    }
    if (begins_line && c == '#') {
      while (!text.empty()) {  // with the lines that continue it
        const std::size_t end = std::min(text.find('\n'), text.size());
        const bool goes_on = end > 0 && text[end - 1] == '\\';
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!goes_on) break;
      }
      continue;
    }
    begins_line = false;
    if (text.starts_with("//")) {
      skip_to("\n");
      begins_line = true;
    } else if (text.starts_with("/*")) {
      skip_to("*/");
    } else if (text.starts_with("R\"")) {
      const std::string_view mark = text.substr(2, text.find('(') - 2);
      skip_to(')' + std::string(mark) + '"');
      tokens.emplace_back("\"\"");
    } else if (c == '"' || c == '\'') {
      std::size_t at = 1;
      while (at < text.size() && text[at] != c) at += text[at] == '\\' ? 2 : 1;
      text.remove_prefix(std::min(at + 1, text.size()));
      tokens.emplace_back("\"\"");
    } else {
      std::size_t end = 1;
      // The marks between digits belong to the number.
      while (is_word(c) && end < text.size() && (is_word(text[end]) || text[end] == '\'')) end++;
      if (text.starts_with("::")) end = 2;
      tokens.push_back(text.substr(0, end));
      text.remove_prefix(end);
    }
  }
  return tokens;
}

}  // namespace fkt::test
