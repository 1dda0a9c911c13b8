// SPDX-License-Identifier: GPL-2.0-only
// The state at a cut under libFuzzer: what Cut::parse() lets through can be gone on from, whatever
// events follow, and be cut again.
#include <cassert>
#include <cstdint>
#include <string_view>

#include "lib/merge.h"
#include "tests/golden/recordings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fkt::Trace trace = std::move(*fkt::Trace::from_bytes(fkt::test::find_recording()));
  fkt::Result<fkt::Cut> cut =
      fkt::Cut::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!cut) {
    assert(!cut.error().message.empty());
    return 0;
  }
  fkt::TraceInfo info = trace.info();
  info.cut = std::move(*cut);
  fkt::Analysis analysis(info, {});
  for (const fkt::Event& event : trace.events()) {
    // As the reader does it: nothing from before the cut.
    if (event.clock >= info.cut->from && event.clock < info.cut->to) analysis.add(event);
  }
  const fkt::Cut again = analysis.cut(info.cut->to, ~std::uint64_t{0});
  assert(fkt::Cut::parse(again.to_lines()));
  analysis.finish(true, info.cut->to);
  assert(!fkt::report_json(fkt::summarize(analysis, trace.integrity(), false), analysis,
                           fkt::TimeFormat())
              .empty());
  return 0;
}
