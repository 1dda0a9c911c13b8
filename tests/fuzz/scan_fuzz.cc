// SPDX-License-Identifier: GPL-2.0-only
// libFuzzer target: for any recording, scan() gives the same results as adding every event, to the
// byte. The last byte also chooses the part that is looked at and the number of threads.
#include <cstdio>
#include <cstdlib>

#include "lib/scan/scan.h"
#include "tests/fuzz/signed_mutator.h"
#include "tests/unit/everything_said.h"

namespace {

fkt::Selection selection_of(const fkt::Recording& trace, unsigned choice) {
  fkt::Selection selection;
  if (trace.pages().empty()) return selection;
  const fkt::PageRef& middle = trace.pages()[trace.pages().size() / 2];
  if ((choice & 1) != 0) selection.from = middle.first_clock;
  if ((choice & 2) != 0) selection.to = middle.end_clock;
  if ((choice & 12) == 12) selection.cpu = middle.cpu;
  return selection;
}

std::string by_events(std::span<const std::byte> bytes, unsigned choice) {
  const fkt::Result<fkt::Recording> trace = fkt::Recording::from_bytes(bytes);
  if (!trace) return {};
  fkt::Analysis analysis(trace->info(), selection_of(*trace, choice));
  analysis.keep_histograms();
  const fkt::Selection& selection = analysis.selection();
  for (const fkt::Event& event : trace->events({.from = {}, .to = selection.to, .cpu = {}})) {
    analysis.add(event);
  }
  analysis.finish(!selection.to, recording_end(*trace));
  return fkt::test::everything_said(*trace, analysis);
}

std::string by_scan(std::span<const std::byte> bytes, unsigned choice) {
  const fkt::Result<fkt::Recording> trace = fkt::Recording::from_bytes(bytes);
  if (!trace) return {};
  fkt::Analysis analysis(trace->info(), selection_of(*trace, choice));
  analysis.keep_histograms();
  fkt::scan(*trace, analysis, {.threads = (choice & 0x70) == 0x70 ? 2U : 1U});
  analysis.finish(!analysis.selection().to, recording_end(*trace));
  return fkt::test::everything_said(*trace, analysis);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned choice = data[size - 1];
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string expected = by_events(bytes, choice), found = by_scan(bytes, choice);
  if (found == expected) return 0;
  std::fprintf(stderr, "by events:\n%s\nby scan:\n%s\n", expected.c_str(), found.c_str());
  std::abort();
}
