// SPDX-License-Identifier: GPL-2.0-only
// The record file's sections: walking them, checking and unpacking their payloads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fkt/file.h>

#include "lib/cursor.h"
#include "lib/result.h"

namespace fkt {

struct Section {
  fkt_section_header header{};
  ByteView stored;           // the payload as it stands in the file
  std::uint64_t offset = 0;  // of the section in the file (bytes)
};

struct SectionList {
  std::vector<Section> sections;
  std::uint64_t end = 0;      // offset behind the last whole section (bytes)
  std::uint64_t cut_off = 0;  // bytes of a section that the file's end cuts short
  std::vector<std::string> faults;  // places where a section's header is damaged
};

// Does an FKT_SEC_END close a file's sections?
enum class Closing { none, expected };

// The sections that stand between the offsets `begin` and `end` of the file, up to the first place
// where none begins. Where an end is expected and missing, sections are looked for behind the damage.
SectionList walk_sections(ByteView file, std::uint64_t begin, std::uint64_t end,
                          Closing closing = Closing::none);

// What its checksum has to be.
std::uint32_t section_checksum(fkt_section_header header, ByteView stored);

// Does its checksum match? If not, an error that says where the section is.
Status check_section(const Section& section);

// A section's contents: checked, unpacked, and either in place in the file or owned.
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
