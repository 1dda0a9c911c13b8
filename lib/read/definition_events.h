// SPDX-License-Identifier: GPL-2.0-only
// The events that add lines to the catalogue during the recording. They may follow the events that
// need them, in the pages of another CPU, so they are read before any page is decoded: from the
// pages whose headers have the flag FKT_PAGE_DEFINES.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/format/metadata.h"
#include "lib/read/page_source.h"
#include "lib/read/recording.h"

namespace fkt {

inline bool has_definitions(const fkt_page_header& header) {
  return header.version != FKT_WIRE_VERSION_UNCHECKED && (header.flags & FKT_PAGE_DEFINES) != 0;
}

// Returns the offsets of the pages with such events; reads the headers of all.
std::vector<std::uint64_t> defining_pages(const PageSource& source, std::span<const PageRef> pages);

// Adds the lines of the events in the pages at these offsets to info.definitions. Damage is not
// reported here, but when the pages are read.
void read_definitions(RecordingInfo& info, const PageSource& source,
                      std::span<const std::uint64_t> offsets);

}  // namespace fkt
