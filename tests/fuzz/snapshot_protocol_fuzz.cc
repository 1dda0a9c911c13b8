// SPDX-License-Identifier: GPL-2.0-only
// libFuzzer target: whatever comes through the snapshot's socket, it is a message that comes out
// again as it went in, or none.
#include <cstdlib>
#include <string_view>

#include "lib/record/snapshot_protocol.h"

namespace {

using namespace fkt;

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  if (const Result<SnapshotAsk> ask = parse_ask(message)) {
    const Result<SnapshotAsk> again = parse_ask(to_message(*ask));
    expect(again && again->after_ns == ask->after_ns && again->name == ask->name);
    expect(ask->after_ns <= kMostSnapshotAfter && !ask->name.empty());
  }
  if (const Result<SnapshotAnswer> answer = parse_answer(message)) {
    expect(to_message(*answer) == message);
  }
  return 0;
}
