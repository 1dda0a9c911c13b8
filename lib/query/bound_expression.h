// SPDX-License-Identifier: GPL-2.0-only
// Binds an expression (lib/query/expression.h) to one recording: its names are looked up once, so
// that testing an event compares numbers and allocates nothing.
//
//   name       as in the dump ("sys_openat", "switch", "block_rq_issue"), or with the device or
//              number as in the statistics ("softirq RCU", "irq 14 ide0")
//   layer      name or bit
//   cpu, pid   numbers
//   task       name of the task that ran
//   state      of a switch, as in the dump
//   time       since the recording's start; with a unit
//   duration   of a span, from entry to exit
//   ret        and every other argument, by its name in the catalogue, the values that were
//              recorded of calls among them; one whose numbers have names (tasks, interrupts,
//              errors, functions) may be compared with those
//
// A comparison with something that an event does not have is false, whatever the operator. If the
// expression uses `duration` or `ret`, entry and exit of a span are selected together, by the
// values of both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/format/number_names.h"
#include "lib/query/expression.h"
#include "lib/read/recording.h"

namespace fkt {

class BoundExpression {
 public:
  // The field with the asked name of events with this id whose key is one of these numbers.
  struct ValueField {
    std::uint16_t id = 0;
    std::uint64_t first = 0, last = 0;
    const Field* key = nullptr;
    const Field* field = nullptr;
  };
  // The numbers, ascending, of the key of events with this id whose names fit.
  struct NamedKey {
    std::uint16_t id = 0;
    const Field* key = nullptr;
    std::vector<std::uint64_t> fitting;
  };
  struct Node {
    enum class Kind : std::uint8_t {
      conjunction,
      disjunction,
      negation,
      ids,  // tests that depend only on the event's id: state
      layer,
      name,
      cpu,
      pid,
      task,
      time,
      duration,
      argument,
    };
    Kind kind = Kind::conjunction;
    std::uint64_t layers = 0;  // of Kind::layer: a bit for each layer that is selected
    Comparison comparison = Comparison::equal;
    std::uint32_t left = 0, right = 0;
    Literal value;                       // times are converted to ticks
    Literal address;                     // value, where that is an address: as the events' are
    std::vector<bool> ids;               // ids, name: which event ids fit
    std::vector<std::uint16_t> by_id;    // argument: index in `fields`; 0: the event has none
    std::vector<const Field*> fields{};  // [0] is nullptr
    std::vector<ValueField> values{};    // argument: fields that depend on the event's key
    std::vector<NamedKey> keys{};        // name: of events that are no spans and named by a key
    std::uint32_t slot = 0;              // name: its number among the nodes of Kind::name
  };

  // Binds the expression; `info` must outlive the result. Error (usage): an unknown field or name,
  // or a value that the field cannot have.
  static Result<BoundExpression> bind(const Expression& expression, const RecordingInfo& info);

  const std::string& text() const { return text_; }
  bool whole_spans() const { return whole_spans_; }
  // Returns whether it has the name of a span, or a pattern for such names that fits no event at an
  // end, so that it would select entries without their exits.
  bool names_spans() const { return names_spans_; }
  // From now on entry and exit of a span are selected together.
  void select_whole_spans() { whole_spans_ = true; }
  // Operands come before their operator, so the last node is the whole expression. Never empty.
  const std::vector<Node>& nodes() const { return nodes_; }
  std::uint32_t name_nodes() const { return names_; }  // how many are of Kind::name
  std::uint64_t start() const { return start_; }       // from which Kind::time counts (ticks)
  // Returns the field that the node, of Kind::argument, asks for; nullptr: the event does not have
  // it.
  static const Field* field_of(const Node& node, const Event& event);

 private:
  friend class Binder;
  std::string text_;
  std::vector<Node> nodes_;
  std::uint32_t names_ = 0;  // number of nodes of Kind::name
  std::uint64_t start_ = 0;  // the recording's start (ticks)
  bool whole_spans_ = false, names_spans_ = false;
};

// Returns the names of this recording's events that are known without reading the events.
std::vector<std::string> event_names(const RecordingInfo& info);

}  // namespace fkt
