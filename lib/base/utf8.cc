// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/utf8.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <utility>

namespace fkt {
namespace {

// What is not harmless, by code point.
constexpr std::pair<std::uint32_t, std::uint32_t> kHarmful[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},   {0x180e, 0x180e},
    {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f}, {0xfeff, 0xfeff},
    {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f},
};

// The widths of characters, which the C library has for each locale, in one that knows them all.
class Widths {
 public:
  Widths() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}
  ~Widths() {
    if (locale_ != nullptr) freelocale(locale_);
  }
  Widths(const Widths&) = delete;
  Widths& operator=(const Widths&) = delete;

  // Characters that the locale does not know, or all where there is none, take one column.
  std::size_t operator()(std::uint32_t code) const {
    if (locale_ == nullptr) return 1;
    const locale_t before = uselocale(locale_);
    const int width = wcwidth(static_cast<wchar_t>(code));
    uselocale(before);
    return width < 0 ? 1 : static_cast<std::size_t>(width);
  }

 private:
  locale_t locale_;
};

std::size_t width_of(std::uint32_t code) {
  static const Widths widths;
  return widths(code);
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return {};
  std::uint32_t code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; i++) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  // Overlong forms, surrogates, and code points above U+10FFFF are invalid.
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {};
  return {code, length};
}

bool is_harmless(std::uint32_t code) {
  return std::ranges::none_of(
      kHarmful, [code](const auto& range) { return code >= range.first && code <= range.second; });
}

std::size_t columns_of(std::string_view text) {
  if (std::ranges::all_of(text, is_ascii)) return text.size();
  std::size_t columns = 0;
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    columns += c.length <= 1 ? 1 : width_of(c.code);
    text.remove_prefix(std::max<std::size_t>(c.length, 1));
  }
  return columns;
}

std::string_view first_columns(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  while (end < text.size()) {
    const Utf8Character c = first_character(text.substr(end));
    const std::size_t width = c.length <= 1 ? 1 : width_of(c.code);
    if (width > columns) break;
    columns -= width;
    end += std::max<std::size_t>(c.length, 1);
  }
  return text.substr(0, end);
}

}  // namespace fkt
