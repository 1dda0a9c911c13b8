// SPDX-License-Identifier: GPL-2.0-only
// libFuzzer target: any bytes from the recorder's socket are refused, or are a message that is
// written again as the same bytes.
#include <cstdlib>
#include <string_view>

#include "lib/record/recorder_protocol.h"

namespace {

using namespace fkt;

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  if (const Result<RecorderAsk> ask = parse_ask(message)) {
    const Result<RecorderAsk> again = parse_ask(to_message(*ask));
    expect(again && to_message(*again) == to_message(*ask) && again->index() == ask->index());
    if (const auto* snapshot = std::get_if<SnapshotAsk>(&*ask)) {
      expect(snapshot->after_ns <= kMostSnapshotAfter && !snapshot->name.empty());
    }
  }
  if (const Result<RecorderAnswer> answer = parse_answer(message)) {
    expect(to_message(*answer) == message);
  }
  return 0;
}
