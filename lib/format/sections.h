// SPDX-License-Identifier: GPL-2.0-only
// The record file's sections: finds them, checks and unpacks their payloads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fkt/file.h>

#include "lib/base/bytes.h"
#include "lib/base/result.h"

namespace fkt {

struct Section {
  fkt_section_header header{};
  ByteView stored;           // the payload as stored in the file
  std::uint64_t offset = 0;  // of the section in the file (bytes)
};

struct SectionList {
  std::vector<Section> sections;
  std::uint64_t end = 0;            // offset behind the last complete section (bytes)
  std::uint64_t cut_off = 0;        // bytes of a section that the file's end cuts short
  std::vector<std::string> faults;  // messages: where a section's header is damaged
};

// Whether the file's sections end with an FKT_SEC_END.
enum class Closing { none, expected };

// Returns the sections between the offsets `begin` and `end` of the file, up to the first place
// where none begins. With Closing::expected, sections behind damage are searched for as well.
SectionList walk_sections(ByteView file, std::uint64_t begin, std::uint64_t end,
                          Closing closing = Closing::none);

// Returns the checksum that the section's header must contain.
std::uint32_t section_checksum(fkt_section_header header, ByteView stored);

// Returns an error with the section's offset when its checksum does not match.
Status check_section(const Section& section);

// A section's checked and unpacked contents: a view into the file, or an own copy.
class Payload {
 public:
  static Result<Payload> read(const Section& section);

  ByteView bytes() const { return owned_ ? std::as_bytes(std::span(*owned_)) : in_file_; }
  std::string_view text() const { return as_text(bytes()); }

 private:
  ByteView in_file_;
  std::optional<std::string> owned_;
};

}  // namespace fkt
