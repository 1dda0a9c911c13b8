// SPDX-License-Identifier: GPL-2.0-only
// The numbers by which events name functions, tracepoints, instructions and places in user
// programs. A number stands for a name, the values that are recorded with it, and a layer, for the
// whole recording: each event can be read without knowing which table of instruments was in force.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fkt/ioctl.h>
#include <fkt/wire.h>

#include "cli/fkt_record/instruments/value_lines.h"
#include "lib/instrument/flag_names.h"

namespace fkt::record {

class Numbers {
 public:
  // table: of the numbers' names in the catalogue. most: numbers are smaller.
  Numbers(std::string_view table, std::uint32_t most) : table_(table), most_(most) {}

  // Called before the places of a table of instruments are numbered.
  void begin();
  // Returns the number of a place, a new one if no earlier table has an equal place. fields: what
  // is recorded with its events; layer: number of its bit; async: which end of an asynchronous span
  // they are.
  std::uint32_t add(const std::string& name, std::span<const RecordedField> fields, unsigned layer,
                    const std::optional<AsyncPart>& async = std::nullopt);
  // Returns whether there were too many places: then some of the returned numbers are not valid.
  bool overflow() const { return names_.size() > most_; }
  const std::string& name(std::uint32_t number) const { return names_[number]; }
  // By number.
  std::span<const std::string> names() const { return names_; }
  // Returns the catalogue's lines for the numbers that are new since the last call.
  std::string take_lines();

 private:
  // Equal places, and how many of them the table that is being made has.
  struct Equals {
    std::vector<std::uint32_t> numbers;
    std::size_t used = 0;
  };

  std::string table_;
  std::uint32_t most_;
  std::unordered_map<std::string, Equals> known_;
  std::vector<std::string> names_;  // by number
  std::size_t told_ = 0;            // numbers before it are in lines that were taken
  ValueLines values_{table_};       // of the others
  LayerLines layers_{table_};
  AsyncLines asyncs_{table_};
};

// The numbers of all places of a recording, and the flags of its instruments.
struct Numbering {
  Numbers functions{"function", 1U << FKT_ARG_BITS};
  Numbers tracepoints{"tracepoint", FKT_POINTS_MOST};
  Numbers instructions{"instruction", FKT_INSTRUCTIONS_MOST};
  Numbers users{"user_function", FKT_USER_NUMBERS};
  FlagNames flags;

  void begin();
  std::string take_lines();
};

}  // namespace fkt::record
