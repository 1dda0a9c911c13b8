// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/definition_events.h"

#include "lib/base/bytes.h"
#include "lib/read/page_decoder.h"

namespace fkt {
namespace {

void read_page(const Page& page, const WordTable& table, Definitions& definitions) {
  PageDecoder decoder(table, page);
  Event event;
  for (;;) {
    const PageDecoder::Step step = decoder.next(event);
    if (step == PageDecoder::Step::end || step == PageDecoder::Step::damaged) return;
    if (step != PageDecoder::Step::event || event.id != FKT_E_DEFINE) continue;
    std::string_view lines = as_text(std::as_bytes(event.words));
    definitions.add(take_until(lines, '\0'));
  }
}

}  // namespace

std::vector<std::uint64_t> defining_pages(const PageSource& source,
                                          std::span<const PageRef> pages) {
  std::vector<std::uint64_t> offsets;
  for (const PageRef& ref : pages) {
    const Result<Page> page = source.page_header(ref.offset);
    if (page && has_definitions(page->header)) offsets.push_back(ref.offset);
  }
  return offsets;
}

void read_definitions(TraceInfo& info, const PageSource& source,
                      std::span<const std::uint64_t> offsets) {
  const WordTable table(info.catalogue);
  for (const std::uint64_t offset : offsets) {
    const Result<Page> page = source.page(offset);
    if (page) read_page(*page, table, info.definitions);
  }
}

}  // namespace fkt
