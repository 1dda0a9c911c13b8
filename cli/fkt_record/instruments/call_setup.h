// SPDX-License-Identifier: GPL-2.0-only
// The instruments on calls of a recording: from the texts of -i to what FKT_START is given, and
// what the file says of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fkt/ioctl.h>

#include "lib/base/result.h"
#include "lib/instrument/call_plan.h"
#include "lib/instrument/instrument.h"
#include "lib/record/device.h"

namespace fkt::record {

// Error (usage): fkt_record cannot do what the instrument asks for.
Status check_instrument(const Instrument& instrument);

class CallSetup {
 public:
  // An instrument as the recording has it.
  struct Part {
    std::string text;  // as typed
    std::size_t functions = 0;
    // Functions that its patterns fit, but an earlier instrument has.
    std::size_t taken_before = 0;
    std::vector<CallPlan::LeftOut> left_out;
  };

  // Finds the functions of the running kernel that the instruments are for. A function belongs to
  // the first instrument that fits it. Precondition: check_instrument() found them good.
  // Error (usage): an instrument has no function; (io): the kernel does not tell what it has.
  static Result<CallSetup> make(std::span<const Instrument> instruments, double ticks_per_second);

  // For FKT_START; valid as long as this object.
  const fkt_calls& arguments() const { return *arguments_; }
  // Lines for the file's catalogue: the names of the functions' numbers, and the values that are
  // recorded of their calls.
  std::string catalogue_lines() const;
  std::span<const Part> parts() const { return parts_; }

 private:
  CallSetup() = default;
  void add(CallPlan plan, std::uint16_t instrument);
  void add_values(std::uint32_t number, std::size_t program, std::span<const RecordedField> fields);
  Status finish();

  // What is recorded of the calls of functions with these numbers.
  struct Values {
    std::uint32_t first = 0, last = 0;
    std::size_t program = 0;
    std::string fields;  // as in the catalogue
  };

  std::vector<Part> parts_;
  std::vector<Values> values_;
  std::vector<std::string> names_;  // of the functions, by number
  std::vector<fkt_called> functions_;
  std::vector<std::byte> programs_;  // its memory stays where it is when this object is moved
  std::uint32_t program_count_ = 0;
  std::uint64_t shortest_ = ~std::uint64_t{0};
  std::unique_ptr<fkt_calls> arguments_ = std::make_unique<fkt_calls>();
};

}  // namespace fkt::record
