// SPDX-License-Identifier: GPL-2.0-only
// Descriptions of tracepoints' records (the files "format" of tracefs) under libFuzzer: any text is
// either a layout, of which every field can be fetched or is refused, or one line that says what is
// wrong.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <fkt/program.h>

#include "lib/instrument/event_layout.h"
#include "lib/instrument/point_record.h"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void expect_good(const fkt::EventField& field) {
  expect(!field.name.empty() && field.size != 0);
  expect(field.form != fkt::EventField::Form::array ||
         (field.element != 0 && field.element <= field.size));
  for (const fkt::ValueNames::Name& name : field.names.values) expect(!name.second.empty());
  for (const fkt::ValueNames::Name& flag : field.names.flags) expect(!flag.second.empty());
  fkt::FieldPath path;
  path.root = field.name;
  const fkt::Result<fkt::Fetch> fetch = fkt::fetch_field(field, path);
  if (!fetch) return expect(fetch.error().message.starts_with("column "));
  // What is loaded lies in the field.
  expect(fetch->from != FKT_FROM_RECORD ||
         (fetch->load <= field.size &&
          static_cast<std::uint32_t>(fetch->offset) + fetch->load <= field.offset + field.size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fkt::Result<fkt::EventLayout> layout = fkt::EventLayout::parse(text);
  if (!layout) {
    expect(layout.error().message.find('\n') == std::string::npos);
    return 0;
  }
  for (const fkt::EventField& field : layout->fields) expect_good(field);
  return 0;
}
