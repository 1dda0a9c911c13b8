// SPDX-License-Identifier: GPL-2.0-only
// Writes JSON as text, member by member, without a document in memory. All JSON that FKT writes is
// written by it.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "lib/base/text_writer.h"

namespace fkt {

class JsonWriter {
 public:
  // indented: each member on a line of its own, a column further to the right in each level; and
  // numbers with a fraction have as many digits as tell them apart.
  enum class Form { compact, indented };
  // Appends to `out` one value: the first that is put.
  explicit JsonWriter(TextWriter& out, Form form = Form::compact)
      : out_(out), indented_(form == Form::indented) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  bool indented() const { return indented_; }
  // Write the brackets around what a function puts, which may take this writer.
  template <class Write>
  requires std::invocable<Write> || std::invocable<Write, JsonWriter&>
  void object(Write write) { bracketed('{', '}', write); }
  template <class Write>
  requires std::invocable<Write> || std::invocable<Write, JsonWriter&>
  void array(Write write) { bracketed('[', ']', write); }
  // Write the two brackets, [] or {}, where one is not always written.
  void begin(char bracket) {
    value().put(bracket);
    at_ = At::first;
    depth_++;
  }
  void end(char bracket) {
    depth_--;
    if (at_ == At::next && indented_) indent();
    out_.put(bracket);
    at_ = At::next;
  }
  // Write an object of these keys and values; an array of these values.
  template <class... Members>
  void object(std::string_view key, const Members&... rest) {
    object([&] { members(key, rest...); });
  }
  template <class... Values>
  void row(const Values&... values) {
    array([&] { (put(values), ...); });
  }
  // Writes members of an object: keys, each before its value.
  template <class Value, class... More>
  void members(std::string_view key, const Value& value, const More&... more) {
    this->key(key).put(value);
    if constexpr (sizeof...(more) > 0) members(more...);
  }
  // Writes a member's key; its value follows.
  JsonWriter& key(std::string_view name) {
    separate();
    out_.json(name);
    out_.put(':');
    if (indented_) out_.put(' ');
    at_ = At::value;
    return *this;
  }
  // Returns what the caller writes one value to: an element, or the value of the key before.
  TextWriter& value() {
    separate();
    return out_;
  }
  // The next member, or element, begins a line.
  void begin_line() {
    separate();
    out_.put('\n');
    at_ = At::value;
  }
  // Writes a value: a truth, number, text, null (nullptr), what an optional holds or null, a range
  // as an array, or that which a function puts.
  template <class Value>
  void put(const Value& value) {
    if constexpr (std::same_as<Value, bool>) {
      this->value().put(value ? "true" : "false");
    } else if constexpr (std::signed_integral<Value>) {
      this->value().number_signed(value);
    } else if constexpr (std::integral<Value>) {
      this->value().number(value);
    } else if constexpr (std::floating_point<Value>) {
      fraction(value);
    } else if constexpr (std::same_as<Value, std::nullptr_t>) {
      this->value().put("null");
    } else if constexpr (std::convertible_to<Value, std::string_view>) {
      this->value().json(value);
    } else if constexpr (std::invocable<Value>) {
      value();
    } else if constexpr (std::invocable<Value, JsonWriter&>) {
      value(*this);
    } else if constexpr (requires { value.has_value(); }) {
      value.has_value() ? put(*value) : put(nullptr);
    } else {
      array([&] {
        for (const auto& element : value) put(element);
      });
    }
  }

 private:
  // What comes next: the first member between brackets, another one, or a value without a comma.
  enum class At { first, next, value };

  void separate() {
    if (at_ == At::next) out_.put(',');
    if (at_ != At::value && indented_) indent();
    at_ = At::next;
  }
  void indent() {
    out_.put('\n');
    out_.fill(depth_);
  }
  template <class Write>
  void bracketed(char open, char close, Write& write) {
    begin(open);
    if constexpr (std::invocable<Write>) {
      write();
    } else {
      write(*this);
    }
    end(close);
  }
  // Writes the shortest decimal number from which a reader gets the same value.
  void fraction(double number) {
    if (!std::isfinite(number)) return put(nullptr);
    const double size = std::abs(number);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e15);
    char text[32];
    const char* const end =
        std::to_chars(text, text + sizeof text, number,
                      plain ? std::chars_format::fixed : std::chars_format::scientific)
            .ptr;
    const std::string_view digits(text, end);
    value().put(digits);
    if (plain && digits.find('.') == std::string_view::npos) out_.put(".0");
  }

  TextWriter& out_;
  const bool indented_;
  At at_ = At::value;
  std::size_t depth_ = 0;
};

// Returns the text of an object of these keys and values.
template <class... Members>
std::string json_object(const Members&... members) {
  TextWriter out;
  JsonWriter(out).object(members...);
  return out.take();
}

}  // namespace fkt
