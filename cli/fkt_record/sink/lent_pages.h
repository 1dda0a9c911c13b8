// SPDX-License-Identifier: GPL-2.0-only
// Access to the pages of the module's rings with FKT_ENGINE_URING: they are mapped, taken in order
// per CPU, read in place, and given back in any order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <fkt/ioctl.h>

#include "lib/base/bytes.h"
#include "lib/base/result.h"

namespace fkt::record {

// One complete page, valid from take() until it is given back.
struct LentPage {
  std::uint32_t number = 0;
  ByteView bytes;  // the whole page, header first; aligned for O_DIRECT
};

class LentPages {
 public:
  // Maps the pages. Only the owner of the recording can, after FKT_START with FKT_ENGINE_URING. The
  // caller keeps ownership of `device`.
  static Result<LentPages> map(int device, std::uint32_t page_bytes);

  // Takes complete pages: stores up to room.size() page numbers. `over`: the recording is stopped
  // and no more pages will come.
  struct Taken {
    std::size_t count = 0;
    bool over = false;
  };
  Result<Taken> take(std::span<std::uint32_t> room);
  LentPage page(std::uint32_t number) const;
  // Gives pages back. written: they are in the output; if not, the module counts their events as
  // discarded.
  Status give_back(std::span<const std::uint32_t> numbers, bool written);

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* data) const;
  };
  using Mapping = std::unique_ptr<std::byte, Unmap>;
  LentPages(int device, std::uint32_t page_bytes, Mapping pages)
      : device_(device), page_bytes_(page_bytes), pages_(std::move(pages)) {}

  int device_;
  std::uint32_t page_bytes_;
  Mapping pages_;
};

}  // namespace fkt::record
