// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/json.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "lib/base/text_writer.h"

namespace fkt {
namespace {

constexpr int kDeepest = 100;

bool nests_too_deeply(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') i++;
    if (in_string) continue;
    if (c == '[' || c == '{') depth++;
    if (c == ']' || c == '}') depth--;
    if (depth > kDeepest) return true;
  }
  return false;
}

}  // namespace

nlohmann::json parse_json(std::string_view text) {
  if (nests_too_deeply(text)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string dump_json(const nlohmann::json& json) {
  TextWriter out;
  out.json_text(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return out.take();
}

void put_clock_pair(JsonWriter& json, const fkt_clocks& clocks) {
  json.object("clock", clocks.clock, "mono_ns", clocks.mono_ns, "mono_raw_ns", clocks.mono_raw_ns,
              "real_ns", clocks.real_ns);
}

}  // namespace fkt
