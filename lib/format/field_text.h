// SPDX-License-Identifier: GPL-2.0-only
// Fields of events as the catalogue's lines have them: "name:type:word:shift:bits ...", each with
// ":key" or another use if it has one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/format/catalogue.h"

namespace fkt {

// Appends the fields to `out`. Returns false if the text has no such form, or a field lies outside
// of what an event can have.
bool parse_fields(std::string_view text, std::vector<Field>& out);
// Returns the text of which parse_fields() makes equal fields.
std::string fields_text(const std::vector<Field>& fields);

}  // namespace fkt
