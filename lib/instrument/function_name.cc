// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/function_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace fkt {
namespace {

constexpr std::size_t kMostName = 255;  // bytes

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// Returns the position behind the brackets that begin at `at`; npos: they do not end.
std::size_t behind_brackets(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); at++) {
    depth += text[at] == '(' || text[at] == '<' ? 1 : 0;
    depth -= text[at] == ')' || (text[at] == '>' && text[at - 1] != '-') ? 1 : 0;
    if (depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

// Returns the part of a demangled name that is the function's own: without what it returns and what
// it is given.
std::string_view own_name(std::string_view text) {
  constexpr std::string_view kWhole[] = {"(anonymous namespace)", "operator()", "decltype ("};
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto* const whole =
        std::ranges::find_if(kWhole, [&](std::string_view word) { return rest.starts_with(word); });
    if (whole != std::end(kWhole)) {
      // Of decltype what is in the brackets belongs to it.
      at = whole->ends_with(" (") ? behind_brackets(text, at + whole->size() - 1)
                                  : at + whole->size();
    } else if (rest.starts_with("operator")) {
      // Of operator< the bracket is a name's, and so is the blank of operator new.
      return text.substr(begin, text.find('(', at) - begin);
    } else if (rest.front() == '{') {
      at = text.find('}', at);
    } else if (rest.front() == '<') {
      at = behind_brackets(text, at);
    } else if (rest.front() == '(') {
      // Of a function's own function the name goes on: f(int)::{lambda()#1}.
      const std::size_t behind = behind_brackets(text, at);
      if (text.substr(std::min(behind, text.size()), 2) != "::")
        return text.substr(begin, at - begin);
      at = behind;
    } else {
      at++;
      if (rest.front() == ' ') begin = at;
    }
  }
  return text.substr(begin);
}

}  // namespace

std::string printable_name(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) c = '_';
  }
  if (text.size() > kMostName) text = text.substr(0, kMostName - 3) + "...";
  return text;
}

std::string function_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, Free> text(
      symbol.starts_with("_Z") ? abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status)
                               : nullptr);
  if (!text || status != 0) return printable_name(symbol);
  std::string name(own_name(text.get()));
  for (const char* blank : {", ", "> >"}) {
    for (std::size_t at; (at = name.find(blank)) != name.npos;) name.erase(at + 1, 1);
  }
  return printable_name(name);
}

}  // namespace fkt
