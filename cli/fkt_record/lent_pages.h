// SPDX-License-Identifier: GPL-2.0-only
// The module's own pages, mapped and lent (FKT_ENGINE_LEND): taken in order per CPU, read in place,
// given back in any order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <fkt/ioctl.h>

#include "lib/cursor.h"
#include "lib/result.h"

namespace fkt::record {

// One complete page, from take() until it is given back.
struct LentPage {
  std::uint32_t number = 0;
  ByteView bytes;  // the whole page, header first; aligned for O_DIRECT
};

class LentPages {
 public:
  // Maps them, which the recording's owner can do after FKT_START with FKT_ENGINE_LEND. The
  // descriptor stays the caller's.
  static Result<LentPages> map(int device, std::uint32_t page_bytes);

  // Numbers of complete pages, as many as there are and `room` holds. `over`: the recording is
  // stopped and nothing will come any more.
  struct Taken {
    std::size_t count = 0;
    bool over = false;
  };
  Result<Taken> take(std::span<std::uint32_t> room);
  LentPage page(std::uint32_t number) const;
  // written: they are in the output; otherwise their events count as discarded.
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
