// SPDX-License-Identifier: GPL-2.0-only
// Result<T>: a value or an Error. The library never prints and never aborts, and throws no
// exceptions of its own. std::expected is not in C++20.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace fkt {

enum class ErrorCode {
  io,       // a system call failed: open, read, write, map
  format,   // not an FKT file, or one with contradictory contents
  version,  // written by a newer FKT
  damaged,  // an FKT file with a part that cannot be read
  usage,    // the caller's request is invalid
  absent,   // the recording has nothing of what was asked for
};

// The message is one line in lower case: subject, cause, remedy if there is one; no final stop.
struct Error {
  ErrorCode code = ErrorCode::io;
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// For functions that return no value but may fail.
struct Done {};
using Status = Result<Done>;

// The value of an expression of type Result; if it is an error, the enclosing function returns
// that:
//   auto trace = FKT_TRY(Recording::open(path));
// A statement expression, which gcc and clang have: a macro of standard C++ cannot be an expression
// that returns.
#define FKT_TRY(...)                            \
  ({                                            \
    auto fkt_result = (__VA_ARGS__);            \
    if (!fkt_result) return fkt_result.error(); \
    *std::move(fkt_result);                     \
  })

}  // namespace fkt
