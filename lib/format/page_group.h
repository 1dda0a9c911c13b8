// SPDX-License-Identifier: GPL-2.0-only
// Groups: pages that are compressed together, as units of the page area (fkt/file.h). Here a single
// group is packed and unpacked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <fkt/file.h>

#include "lib/base/bytes.h"
#include "lib/base/result.h"

struct ZSTD_CCtx_s;

namespace fkt {

// Bytes of pages in a group. Measured: 256 KiB of pages compress to a quarter; groups four times as
// large save another 2 %, but a reader needs memory for one group per CPU.
inline constexpr std::uint32_t kGroupBytes = 256 << 10;
inline constexpr int kLeastGroupLevel = 1, kDefaultGroupLevel = 3, kMostGroupLevel = 19;

// Which recording a group belongs to, and its first page.
struct GroupPosition {
  std::uint64_t recording = 0;
  std::uint64_t first_page = 0;  // page number in the file
};

// Returns the bytes that pack() needs in `out` for this many bytes of pages: header, frame and
// padding.
std::size_t group_bound(std::size_t page_bytes);

class GroupPacker {
 public:
  // level: zstd's compression level, kLeastGroupLevel to kMostGroupLevel.
  static Result<GroupPacker> make(int level);
  // Packs the pages, FKT_GROUP_MAX_BYTES at most, into a group in `out`, which must have
  // group_bound() bytes. Returns the group's size (bytes), a multiple of FKT_FILE_ALIGN.
  Result<std::size_t> pack(const GroupPosition& position, std::span<const ByteView> pages,
                           std::span<std::byte> out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  using Context = std::unique_ptr<ZSTD_CCtx_s, Free>;
  explicit GroupPacker(Context context) : context_(std::move(context)) {}

  Context context_;
};

// Changes the recording and first page in the header of a packed group.
void place_group(std::span<std::byte> group, const GroupPosition& position);

// Position of a group, as its header or the file's table (FKT_SEC_GROUPS) says.
struct GroupRef {
  std::uint64_t offset = 0;      // bytes from the file's beginning
  std::uint64_t first_page = 0;  // page number in the file
  std::uint32_t pages = 0;
  std::uint32_t stored_bytes = 0;

  // Returns the offset after the group, where the next one begins (bytes).
  std::uint64_t end() const;
  bool operator==(const GroupRef&) const = default;
};

// Returns true if the magic of a group is at this offset.
bool group_begins(ByteView file, std::uint64_t offset);

// Returns the group at this offset. Error (damaged): its header is damaged, belongs to another
// recording, or makes no sense with pages of `page_bytes`. The group's frame is not checked: it may
// extend beyond the end of the file.
Result<GroupRef> check_group(ByteView file, std::uint64_t offset, std::uint32_t page_bytes,
                             std::uint64_t recording);

// The unpacked pages of a group, aligned as 64-bit words. Error (damaged): says where and why.
// Never unpacks more than FKT_GROUP_MAX_BYTES, whatever the frame claims.
struct Unpacked {
  std::unique_ptr<std::uint64_t[]> words;
  std::size_t bytes = 0;

  ByteView view() const { return {reinterpret_cast<const std::byte*>(words.get()), bytes}; }
};
Result<Unpacked> unpack_group(ByteView file, const GroupRef& group, std::uint32_t page_bytes,
                              std::uint64_t recording);

}  // namespace fkt
