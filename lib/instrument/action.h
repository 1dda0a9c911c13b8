// SPDX-License-Identifier: GPL-2.0-only
// The action of an instrument on the hits that its condition keeps, as users write it:
//
//   record | count | stack | prime | start | stop | snapshot | nothing
//   histogram(VALUE[, by KEY])   VALUE, KEY: as in conditions; the buckets are powers of two
//   histogram(linear(VALUE, WIDTH)[, by KEY])   buckets of this width: 4096, 10us
//   set FLAG [of task] | clear FLAG [of task]   conditions of other instruments ask for the flag
//   handler NAME                 a function that another module registered
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.h"
#include "lib/query/field_path.h"

namespace fkt {

struct Action {
  enum class Kind : std::uint8_t {
    record,
    count,
    histogram,
    stack,
    set,
    clear,
    start,
    stop,
    prime,
    snapshot,
    nothing,
    handler,
  };

  Kind kind = Kind::record;
  std::string name;              // of the flag or the handler
  bool of_task = false;          // of the flag: each task has its own
  FieldPath value;               // of the histogram
  std::string width;             // of its buckets, as typed; empty: they are powers of two
  std::optional<FieldPath> key;  // of the histogram
  std::size_t column = 0;        // in the line that the user typed; 0: the default

  // Returns whether an event is written of each hit.
  bool records() const { return kind == Kind::record || kind == Kind::stack; }
};

// Returns whether the values of a hit are recorded, or given to a handler.
inline bool gives_values(const Action& action) {
  return action.records() || action.kind == Action::Kind::handler;
}

// Returns the action as users write it: "count".
std::string_view action_name(Action::Kind kind);

// column: of the text's first character. Error (usage): what is wrong and in which column.
Result<Action> parse_action(std::string_view text, std::size_t column);

}  // namespace fkt
