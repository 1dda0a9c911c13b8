// SPDX-License-Identifier: GPL-2.0-only
// Expressions under libFuzzer: any text is either a tree that can be given a meaning and be asked
// about every event of a recording, or one line that says what is wrong and where.
#include <cassert>
#include <cstdint>
#include <string_view>

#include "lib/analyse/search_passes.h"
#include "lib/read/event_merge.h"
#include "tests/golden/recordings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fkt::Recording trace =
      std::move(*fkt::Recording::from_bytes(fkt::test::find_recording()));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto filter = fkt::make_filter(trace, text, {});
  if (!filter) {
    assert(filter.error().message.starts_with("column "));
    return 0;
  }
  fkt::Selection selection;
  selection.where = *filter;
  fkt::Analysis analysis(trace.info(), selection);
  std::uint64_t shown = 0;
  for (const fkt::Event& event : trace.events()) shown += analysis.add(event).shown;
  assert(shown <= trace.integrity().events + analysis.gap_count());
  return 0;
}
