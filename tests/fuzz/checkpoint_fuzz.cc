// SPDX-License-Identifier: GPL-2.0-only
// The state at a cut under libFuzzer: an analysis can continue from any checkpoint that
// Checkpoint::parse() accepts, whatever events follow, and be cut again. Behind a line "further"
// stands that of a second stretch.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string_view>

#include "lib/read/event_merge.h"
#include "tests/golden/recordings.h"

namespace {
constexpr std::string_view kFurther = "further\n";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fkt::Recording trace =
      std::move(*fkt::Recording::from_bytes(fkt::test::find_recording()));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find(kFurther), text.size());
  fkt::Result<fkt::Checkpoint> checkpoint = fkt::Checkpoint::parse(text.substr(0, end));
  if (!checkpoint) {
    assert(!checkpoint.error().message.empty());
    return 0;
  }
  fkt::RecordingInfo info = trace.info();
  info.checkpoint = std::move(*checkpoint);
  if (end < text.size()) {
    fkt::Result<fkt::Checkpoint> further =
        fkt::Checkpoint::parse(text.substr(end + kFurther.size()));
    if (further && further->from >= info.checkpoint->to)
      info.further.push_back(std::move(*further));
  }
  fkt::Analysis analysis(info, {});
  for (const fkt::Event& event : trace.events()) {
    // As the reader does it: nothing from outside the stretches.
    for (std::size_t i = 0; i < info.stretches(); i++) {
      const fkt::Checkpoint& stretch = info.stretch(i);
      if (event.clock >= stretch.from && event.clock < stretch.to) analysis.add(event);
    }
  }
  analysis.reach(info.slice_end());
  const fkt::Checkpoint again = analysis.checkpoint(info.slice_end(), ~std::uint64_t{0});
  assert(fkt::Checkpoint::parse(again.to_lines()));
  analysis.finish(true, info.slice_end());
  assert(!fkt::report_json(fkt::summarize(analysis, trace.integrity(), false), analysis,
                           fkt::TimeFormat())
              .empty());
  return 0;
}
