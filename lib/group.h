// SPDX-License-Identifier: GPL-2.0-only
// Groups: pages compressed together, as a unit of the page area (fkt/file.h). Packing and unpacking
// one; nothing here knows of other groups.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <fkt/file.h>

#include "lib/cursor.h"
#include "lib/result.h"

struct ZSTD_CCtx_s;

namespace fkt {

// Pages to a group: 256 KiB of them make a quarter of that; four times as many save 2 % more, but a
// reader has one group per CPU in memory.
inline constexpr std::uint32_t kGroupBytes = 256 << 10;
inline constexpr int kLeastGroupLevel = 1, kDefaultGroupLevel = 3, kMostGroupLevel = 19;

// Which recording and pages a group is of.
struct GroupPlace {
  std::uint64_t recording = 0;
  std::uint64_t first_page = 0;  // running number in the file
};

// Room that pack() needs for so many bytes of pages: header, frame and padding.
std::size_t group_bound(std::size_t page_bytes);

class GroupPacker {
 public:
  // level: zstd's, kLeastGroupLevel to kMostGroupLevel.
  static Result<GroupPacker> make(int level);
  // Writes the group of these pages, up to FKT_GROUP_MAX_BYTES, into `out`, which has room for it
  // (group_bound). Returns its bytes, a multiple of FKT_FILE_ALIGN.
  Result<std::size_t> pack(const GroupPlace& place, std::span<const ByteView> pages,
                           std::span<std::byte> out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  using Context = std::unique_ptr<ZSTD_CCtx_s, Free>;
  explicit GroupPacker(Context context) : context_(std::move(context)) {}

  Context context_;
};

// Says anew which recording and pages a packed group is of.
void place_group(std::span<std::byte> group, const GroupPlace& place);

// Where a group stands, as its own header or the file's table (FKT_SEC_GROUPS) says.
struct GroupRef {
  std::uint64_t offset = 0;      // in the file
  std::uint64_t first_page = 0;  // running number
  std::uint32_t pages = 0;
  std::uint32_t stored_bytes = 0;

  // Behind it: where the next one begins.
  std::uint64_t end() const;
  bool operator==(const GroupRef&) const = default;
};

// Does a group's magic stand there?
bool group_begins(ByteView file, std::uint64_t offset);

// The group that begins there, if its header is whole, of this recording, and makes sense with
// pages of `page_bytes`. Its frame may reach beyond the file's end.
Result<GroupRef> check_group(ByteView file, std::uint64_t offset, std::uint32_t page_bytes,
                             std::uint64_t recording);

// The pages of a group, aligned as 64-bit words. An Error (damaged) says where and why; never more
// than FKT_GROUP_MAX_BYTES are unpacked, whatever the frame claims.
struct Unpacked {
  std::unique_ptr<std::uint64_t[]> words;
  std::size_t bytes = 0;

  ByteView view() const { return {reinterpret_cast<const std::byte*>(words.get()), bytes}; }
};
Result<Unpacked> unpack_group(ByteView file, const GroupRef& group, std::uint32_t page_bytes,
                              std::uint64_t recording);

}  // namespace fkt
