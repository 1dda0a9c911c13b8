// SPDX-License-Identifier: GPL-2.0-only
// Messages of include/fkt/remote.h: the parts that sender and receiver share.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fkt/remote.h>

#include "lib/base/bytes.h"
#include "lib/base/crc32.h"

namespace fkt::remote {

// The first members of challenge and hello, the same in every version of the protocol.
struct MessageBegin {
  std::uint32_t magic;
  std::uint32_t version;
};

template <class T>
void append_message(std::string& out, const T& message) {
  out.append(reinterpret_cast<const char*>(&message), sizeof message);
}

inline std::string other_version(std::uint32_t version) {
  return "it speaks version " + std::to_string(version) + " of the protocol, not " +
         std::to_string(FKT_REMOTE_VERSION) + ": both ends must be of one FKT";
}

inline bool is_page_size(std::uint32_t bytes) {
  return std::has_single_bit(bytes) && bytes >= FKT_PAGE_MIN_BYTES && bytes <= FKT_PAGE_MAX_BYTES;
}

inline std::uint32_t frame_checksum(const fkt_remote_frame& frame, ByteView payload) {
  const ByteView header(reinterpret_cast<const std::byte*>(&frame),
                        offsetof(fkt_remote_frame, checksum));
  return crc32(payload, crc32(header));
}

// Makes a frame's header. `offset`: position of its payload in the recording (bytes).
inline fkt_remote_frame make_frame(fkt_remote_frame_type type, std::uint64_t offset,
                                   ByteView payload) {
  fkt_remote_frame frame{FKT_REMOTE_MAGIC, type, offset, static_cast<std::uint32_t>(payload.size()),
                         0};
  frame.checksum = frame_checksum(frame, payload);
  return frame;
}

}  // namespace fkt::remote
