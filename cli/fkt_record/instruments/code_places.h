// SPDX-License-Identifier: GPL-2.0-only
// The running kernel's code, in which places on blocks and lines are found. It is read when the
// first one is asked for.
#pragma once

#include <memory>

#include "lib/base/result.h"
#include "lib/blocks/block_places.h"

namespace fkt::record {

class CodePlaces {
 public:
  CodePlaces();
  ~CodePlaces();
  // As find_block_places(), without splices if the module fkt_splices is not loaded. Error (io),
  // too: the kernel's code cannot be read; (usage): this program was built without the decoder.
  Result<BlockPlaces> find(const Place& place, Splices splices);

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace fkt::record
