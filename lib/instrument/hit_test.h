// SPDX-License-Identifier: GPL-2.0-only
// One comparison of a condition, bound to the words of a call's hit, and its instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/argument_words.h"
#include "lib/instrument/btf.h"
#include "lib/instrument/fetch.h"
#include "lib/instrument/flag_names.h"
#include "lib/instrument/instrument.h"
#include "lib/instrument/point_record.h"
#include "lib/instrument/program_builder.h"
#include "lib/instrument/user_file.h"
#include "lib/instrument/value_range.h"
#include "lib/query/expression.h"
#include "lib/query/field_path.h"

namespace fkt {

// A value that a condition names.
struct HitValue {
  enum class Source : std::uint8_t { argument, result, duration, cputime, depth, context };

  Source source = Source::context;
  Fetch fetch;
  const EventField* field = nullptr;  // of the tracepoint's own record

  bool is_known_at_exit_only() const {
    return source != Source::argument && source != Source::context;
  }
  // Return probes do not know these two.
  bool is_of_task() const { return source == Source::cputime || source == Source::depth; }
  bool is_known_at_entry_only() const {
    return source == Source::argument ||
           (source == Source::context &&
            (fetch.index == FKT_CONTEXT_STACK_LEFT || fetch.index == FKT_CONTEXT_LOWEST_STACK));
  }
  bool is_time() const {
    return source == Source::duration || source == Source::cputime ||
           (source == Source::context && fetch.index == FKT_CONTEXT_SINCE_START);
  }
};

constexpr std::uint16_t kIp6Bytes = 16;

// The meaning of names at one function, at an instruction in it, or at a tracepoint.
class CallNames {
 public:
  // call: the whole of it, or its exit; function: an entry, or a tracepoint.
  enum class PlaceKind : std::uint8_t { call, function, instruction, user };

  // record: of a tracepoint; nullptr: it has none. values: those that are recorded, which say the
  // types of numbers in user programs. probe_arguments: of a user program's probe; nullptr: it is
  // none.
  CallNames(const Btf& btf, const Prototype& function, const ArgumentLayout& layout,
            PlaceKind place, const PointRecord* record, std::span<const FetchedValue> values,
            const std::vector<UserArgument>* probe_arguments)
      : btf_(btf),
        function_(function),
        layout_(layout),
        place_(place),
        record_(record),
        values_(values),
        probe_arguments_(probe_arguments) {}

  const Btf& btf() const { return btf_; }
  // Returns the value with this name or path. Error (usage): there is none.
  Result<HitValue> value(const FieldPath& path, TextRule text) const;
  // Same as value(), but only for arguments, or an instruction's registers, and paths from them.
  Result<HitValue> argument(const FieldPath& path, TextRule text) const;
  // Same as value(), but for the call's result and paths from it.
  Result<HitValue> result(const FieldPath& path, TextRule text) const;
  // Returns the inode number of the file that an argument leads to. Error (usage): there is none.
  Result<HitValue> file_number(const FieldPath& path) const;
  // Returns the first 8 of the 16 bytes of an address of IP version 6: a structure in6_addr, or an
  // array in a tracepoint's own record. of_result: the path begins at the call's result. Error
  // (usage): it is not such an address.
  Result<HitValue> ip6_address(const FieldPath& path, bool of_result) const;
  // Returns whether the value may be the address of a text.
  bool may_be_text(const HitValue& value) const;

 private:
  Result<Fetch> probe_argument(const FieldPath& path) const;
  Result<HitValue> user_argument(const FieldPath& path, TextRule text) const;
  Result<HitValue> call_argument(std::size_t i, const FieldPath& path, TextRule text) const;
  // Gives a number of a user program the type that a recorded value declares for it.
  HitValue with_type(HitValue value, const FieldPath& path) const;

  const Btf& btf_;
  const Prototype& function_;
  const ArgumentLayout& layout_;
  const PlaceKind place_;
  const PointRecord* record_;
  const std::span<const FetchedValue> values_;
  const std::vector<UserArgument>* const probe_arguments_;
};

struct HitTest {
  enum class Kind : std::uint8_t { range, text, values, bits };

  Kind kind = Kind::range;
  HitValue left;
  std::optional<HitValue> right;  // of values
  ValueRange range;               // bits: `first` has them
  std::string text;               // a pattern
  Comparison comparison = Comparison::equal;
};

struct TestContext {
  const CallNames& names;
  double ticks_per_second;
  const FlagNames& flags;
};

// Binds a comparison, a flag or a chance. Error (usage): an unknown name, or a comparison that the
// types do not allow; it begins with the column.
Result<HitTest> bind_test(const ExpressionNode& node, const TestContext& context);

// Adds the instructions that continue at `otherwise` unless the test's result is `wanted`. Error
// (usage): the program has no room for the test's text.
Status write_test(ProgramBuilder& builder, const HitTest& test, bool wanted,
                  ProgramBuilder::Label otherwise);

}  // namespace fkt
