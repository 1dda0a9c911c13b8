// SPDX-License-Identifier: GPL-2.0-only
// Lines that describe instruments under libFuzzer: any text is either an instrument or one line
// that says what is wrong and where.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/instrument/instrument.h"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fkt::Result<fkt::Instrument> instrument = fkt::Instrument::parse(text);
  if (!instrument) {
    expect(instrument.error().message.starts_with("column "));
    return 0;
  }
  expect(!instrument->place.names.patterns.empty());
  // A path is written as it is read.
  for (const fkt::FetchedValue& value : instrument->values) {
    const std::string path = value.path.text();
    const auto again = fkt::FieldPath::parse(path, 1);
    expect(again && again->text() == path);
  }
  return 0;
}
