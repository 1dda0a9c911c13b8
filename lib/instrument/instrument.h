// SPDX-License-Identifier: GPL-2.0-only
// Parser of instruments as users write them:
//
//   PLACE [(VALUE, ...)] [ret] [as begin|end KIND by VALUE [on VALUE]] [if CONDITION] [do ACTION]
//
//   call:vfs_read(file.f_path.dentry.d_name.name, count) ret if duration > 1ms && count >= 4096
//
// PLACE: lib/instrument/place.h. VALUE: [NAME=]PATH[:FORM], a path from an argument
// (lib/query/field_path.h), arg1 to arg6 where the arguments have no names; with ":string" the text
// that a pointer points to, with
// ":number" the pointer itself; ":int", ":uint", ":long", ":ulong" numbers of user programs, whose
// types are not known; ":dev" and the others of kNumberForms say what a number is.
// ":inode" is the number of the file that an argument leads to, whose path the recording gets too.
// NAME is what the event calls it. ret: the return value, or what a path leads to from there.
// as: the event begins or ends a span that is on no stack, such as a request to a disk. KIND: its
// name; by: the recorded value by which an end finds its begin; on: the one that tells what the
// span belongs to (`on dev`). CONDITION: lib/query/expression.h. ACTION: lib/instrument/action.h;
// by default every block of a function is counted, and other hits are recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/action.h"
#include "lib/instrument/place.h"
#include "lib/query/expression.h"
#include "lib/query/field_path.h"

namespace fkt {

// A value that is recorded with each hit.
struct FetchedValue {
  enum class Form : std::uint8_t { by_type, string, number, inode, ip6 };

  std::string name;  // as the event calls it; empty: as the path
  FieldPath path;    // of_result: the root is "ret"
  Form form = Form::by_type;
  // Of a number: its type in the catalogue (man fkt-file.5); empty: as its type in the kernel.
  std::string shown_as;
  // Of a number of a user program: its width, which is 64 bits or less, and whether it is signed.
  std::uint8_t bits = 0;  // 0: it was not said
  bool is_signed = true;
  bool of_result = false;
};

// Which end of an asynchronous span (lib/analyse/async_spans.h) the events are.
struct AsyncPart {
  bool begins = false;
  std::string kind;
  std::string match;       // name of a recorded value
  std::string lane;        // likewise; empty: none
  std::size_t column = 0;  // of "as" in the line
};

struct Instrument {
  std::string text;  // as typed
  Place place;
  std::vector<FetchedValue> values;
  std::optional<AsyncPart> async;
  std::optional<Expression> condition;
  Action action;

  // column: of the text's first character in its line. Error (usage): "column 12: ...": what is
  // wrong, and what was expected there.
  static Result<Instrument> parse(std::string_view text, std::size_t column = 1);
};

}  // namespace fkt
