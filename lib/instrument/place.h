// SPDX-License-Identifier: GPL-2.0-only
// Where an instrument hits, as users write it:
//
//   call:[MODULE:]NAMES              whole calls of functions: begin and duration
//   fn:[MODULE:]NAMES[:entry|:exit]  functions' entries, exits, or both
//   tp:SYSTEM:NAMES                  tracepoints
//   sys:NAMES                        whole system calls of 64-bit programs: call:__x64_sys_NAMES
//   at:FUNCTION+OFFSET               an instruction
//   block:[MODULE:]NAMES:NUMBER[:exit]   a basic block of functions (fkt_blocks numbers them): its
//                                    first instruction, or its last one; NUMBER `*`: every block
//   edge:[MODULE:]FUNCTION:FROM-TO   the way from one block to another
//   line:[MODULE:]FILE:NUMBER        a line of a source file; FILE is the end of its path
//   mod:MODULE:NAMES                 a module's own probes; MODULE may be a pattern, or the path of
//                                    the module's file, which has a "/" in it
//   user:FILE:NAMES[:entry|:exit|:call]  functions of a program or a library: entries, exits, calls
//   usdt:FILE:[PROVIDER:]NAMES       probes that it brings along (USDT)
//
// FILE is a path, the name of a program in $PATH, or that of a library (libc.so.6).
// NAMES are patterns (`*`, `?`) with commas between; "!" before one leaves out what fits it. In
// FILE and in a program's names a backslash stands before blanks, commas, colons, parentheses,
// quotation marks and backslashes; "::" needs none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"

namespace fkt {

// Patterns of names and exceptions from them.
struct NameSet {
  std::vector<std::string> patterns, left_out;

  // other: another name of the same thing; empty: there is none.
  bool has(std::string_view name, std::string_view other = {}) const;
  // Returns true if only one name can fit, which is then the only pattern.
  bool is_one_name() const;
};

// The kernel's function for a system call of 64-bit programs: this and the call's name.
inline constexpr std::string_view kSystemCallPrefix = "__x64_sys_";

struct Place {
  enum class Kind : std::uint8_t {
    call,
    function,
    tracepoint,
    instruction,
    block,
    edge,
    line,
    module_probe,
    user_function,
    user_probe,
  };
  enum class Point : std::uint8_t { both, entry, exit, call };

  Kind kind = Kind::call;
  // Module or its file, the tracepoints' system, a program's or library's file; empty: any module.
  std::string group;
  NameSet names;
  std::string provider;  // of a program's probes; empty: any
  // Of functions; `call` of those of programs only. Of blocks: `exit`, or any other.
  Point point = Point::both;
  std::uint64_t number = 0;     // the instruction's offset (bytes); the number of a block or line
  std::uint64_t to = 0;         // of an edge: the block that it leads to
  bool is_every = false;        // of kind block: all of the function's
  bool is_system_call = false;  // of kind call: arguments are those of the system call

  // Returns whether its hits are whole calls.
  bool is_call() const { return kind == Kind::call || point == Point::call; }
  // Returns whether it hits single instructions.
  bool is_in_code() const {
    return kind == Kind::instruction || kind == Kind::block || kind == Kind::edge ||
           kind == Kind::line;
  }
  // Returns whether `group` is the path of a file.
  bool is_file() const { return group.find('/') != group.npos; }
};

// Returns the name of a program's function or probe as it is written in a place.
std::string typed_name(std::string_view name);

// column: of the text's first character. Error (usage): what is wrong, in which column, and what
// was expected there.
Result<Place> parse_place(std::string_view text, std::size_t column);

}  // namespace fkt
