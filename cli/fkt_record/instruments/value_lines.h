// SPDX-License-Identifier: GPL-2.0-only
// Lines "values", "in" and "async" of a file's catalogue (man fkt-file.5): what is recorded with
// the events of a function or a tracepoint, which layer they belong to, and which end of an
// asynchronous span they are.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/instrument/call_compiler.h"
#include "lib/instrument/instrument.h"

namespace fkt::record {

// Returns the column of fields of a line "values". place: the names of a field's values are in the
// table "PLACE.FIELD".
std::string value_fields(std::span<const RecordedField> fields, const std::string& place);

// Returns the columns of a line "async" after its numbers, each with a tab before it.
std::string async_columns(const AsyncPart& async);

class AsyncLines {
 public:
  // table: of the numbers' names.
  explicit AsyncLines(std::string_view table) : table_(table) {}

  // Adds the role of the events with this number.
  void add(std::uint32_t number, const AsyncPart& async);
  std::string text() const { return lines_; }

 private:
  std::string table_, lines_;
};

class LayerLines {
 public:
  // table: of the numbers' names.
  explicit LayerLines(std::string_view table) : table_(table) {}

  // Adds the layer of a number; numbers ascend.
  void add(std::uint32_t number, unsigned layer);
  std::string text() const;

 private:
  struct Line {
    std::uint32_t first = 0, last = 0;
    unsigned layer = 0;
  };

  std::string table_;
  std::vector<Line> lines_;
};

class ValueLines {
 public:
  // table: of the numbers' names.
  explicit ValueLines(std::string_view table) : table_(table) {}

  // Adds the fields that are recorded for a number; numbers ascend. Numbers with equal fields that
  // follow each other share a line. place: the number's name.
  void add(std::uint32_t number, const std::string& place, std::span<const RecordedField> fields);
  std::string text() const;

 private:
  struct Line {
    std::uint32_t first = 0, last = 0;
    std::string fields;
  };

  std::string table_;
  std::vector<Line> lines_;
  std::map<std::string, ValueNames> names_;  // of values, by table
};

}  // namespace fkt::record
