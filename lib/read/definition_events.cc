// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/definition_events.h"

#include "lib/base/bytes.h"
#include "lib/read/page_decoder.h"

namespace fkt {
std::vector<std::uint64_t> defining_pages(const PageSource& source,
                                          std::span<const PageRef> pages) {
  std::vector<std::uint64_t> offsets;
  for (const PageRef& ref : pages) {
    const Result<Page> page = source.page_header(ref.offset);
    if (page && has_definitions(page->header)) offsets.push_back(ref.offset);
  }
  return offsets;
}

void read_definitions(RecordingInfo& info, const PageSource& source,
                      std::span<const std::uint64_t> offsets) {
  const WordTable table(info.catalogue);
  for (const std::uint64_t offset : offsets) {
    const Result<Page> page = source.page(offset);
    if (!page) continue;
    for_each_event(table, *page, [&info](const Event& event) {
      if (event.id != FKT_E_DEFINE) return;
      std::string_view lines = as_text(std::as_bytes(event.words));
      info.definitions.add(take_until(lines, '\0'));
    });
  }
}

}  // namespace fkt
