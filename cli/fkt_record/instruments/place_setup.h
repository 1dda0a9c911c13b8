// SPDX-License-Identifier: GPL-2.0-only
// PlaceSetup: the places of one kind that are recorded, with their programs, in the form that
// FKT_START takes. Place: fkt_called, fkt_point or fkt_user; Arguments: what has an array of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fkt/ioctl.h>

#include "lib/base/result.h"
#include "lib/instrument/program_builder.h"

namespace fkt::record {

template <class Place, class Arguments>
class PlaceSetup {
 public:
  // Gives the instruments the numbers of the recording: numbers[n] is that of the n-th one here.
  void renumber(std::span<const std::uint16_t> numbers) {
    for (Place& place : places_) place.instrument = numbers[place.instrument];
  }
  bool empty() const { return places_.empty(); }
  // For FKT_START; valid as long as this object.
  const Arguments& arguments() const { return *arguments_; }
  // Returns the number of the function or instruction at this address; nothing: it is none of
  // these.
  std::optional<std::uint32_t> number_of(std::uint64_t address) const {
    const auto found = std::ranges::find(places_, address, &Place::function);
    if (found == places_.end()) return std::nullopt;
    return found->number;
  }

 protected:
  void add_program(const ProgramBlock& block) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&block.program());
    programs_.insert(programs_.end(), bytes, bytes + block.bytes());
  }
  static Error too_many(const char* what, std::size_t most) {
    return {ErrorCode::usage,
            std::string("-i: too many ") + what + " (at most " + std::to_string(most) + ")"};
  }
  // Sets what all kinds of arguments have; `places` is where they have the array.
  Arguments& set_arguments(__u64 Arguments::*places) {
    Arguments& a = *arguments_;
    a.*places = reinterpret_cast<std::uintptr_t>(places_.data());
    a.programs = reinterpret_cast<std::uintptr_t>(programs_.data());
    a.count = static_cast<std::uint32_t>(places_.size());
    a.program_bytes = static_cast<std::uint32_t>(programs_.size());
    return a;
  }

  std::vector<Place> places_;
  std::vector<std::byte> programs_;  // its memory stays where it is when this object is moved

 private:
  std::unique_ptr<Arguments> arguments_ = std::make_unique<Arguments>();
};

}  // namespace fkt::record
