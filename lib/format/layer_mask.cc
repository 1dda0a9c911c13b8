// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/layer_mask.h"

#include <fkt/events.h>

#include <algorithm>

#include "lib/base/parse.h"
#include "lib/base/suggest.h"
#include "lib/base/text.h"
#include "lib/format/catalogue.h"

namespace fkt {
namespace {

// Parses one element of the list: a layer's name or a number.
Result<std::uint64_t> parse_part(std::string_view option, std::string_view part) {
  const std::string subject = std::string(option) + ": ";
  if (const Layer* layer = Catalogue::builtin().layer(part)) return 1ULL << layer->bit;

  std::uint64_t bits = 0;
  const bool is_hex = part.starts_with("0x") || part.starts_with("0X");
  if (!(is_hex ? parse_number(part.substr(2), bits, 16) : parse_number(part, bits))) {
    const std::string like = did_you_mean(part, layer_names());
    return Error{ErrorCode::usage, subject + "no layer \"" + std::string(part) + "\"" +
                                       (like.empty() ? " (fkt_record --layers shows them)" : like)};
  }
  if (const std::uint64_t unknown = bits & ~fkt_all_layers()) {
    return Error{ErrorCode::usage, subject + "no layer has bit " + hex(unknown) + " of " +
                                       std::string(part) + " (all layers together are " +
                                       hex(fkt_all_layers()) + ")"};
  }
  return bits;
}

}  // namespace

Result<std::uint64_t> parse_mask(std::string_view option, std::string_view text) {
  std::uint64_t mask = 0;
  std::string_view rest = text;
  do {
    const auto part = FKT_TRY(parse_part(option, take_until(rest, ',')));
    mask |= part;
  } while (!rest.empty());
  return mask;
}

std::vector<std::string> layer_names() {
  std::vector<std::string> names;
  for (const Layer& layer : Catalogue::builtin().layers()) names.push_back(layer.name);
  return names;
}

bool is_list_layer(unsigned bit) {
  return bit == FKT_L_INSTRUMENTS ||
         std::ranges::find(Catalogue::builtin().events(), bit, &EventType::layer) ==
             Catalogue::builtin().events().end();
}

std::vector<std::string> list_layer_names() {
  std::vector<std::string> names;
  for (const Layer& layer : Catalogue::builtin().layers()) {
    if (is_list_layer(layer.bit)) names.push_back(layer.name);
  }
  return names;
}

}  // namespace fkt
