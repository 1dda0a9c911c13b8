// SPDX-License-Identifier: GPL-2.0-only
// The numbers of the events that user programs define (include/fkt/user_ring.h), and the lines of
// the catalogue that describe them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "lib/base/result.h"

namespace fkt {

class EventNumbers {
 public:
  struct Number {
    std::uint32_t number = 0;
    bool plain = false;  // its values are not recorded: the name has other fields
    std::string lines;   // of the catalogue, if the event is new
  };
  // Returns the number for a definition of an event. text: as programs send it, any bytes. Error
  // (usage): it is not a definition, or there are too many.
  Result<Number> of(std::string_view text);

 private:
  struct Known {
    std::uint32_t number = 0;
    std::string fields;
  };
  std::map<std::string, Known, std::less<>> known_;  // by kind and name; points: and fields
  std::uint32_t last_ = 0;
};

}  // namespace fkt
