// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/start/engine_name.h"

#include <array>
#include <vector>

#include "cli/base/messages.h"
#include "lib/base/suggest.h"

namespace fkt::record {
namespace {

struct Name {
  fkt_engine_id id;
  const char* name;
};
constexpr std::array kNames = {
    Name{FKT_ENGINE_DIRECT, "direct"},   Name{FKT_ENGINE_BUFFERED, "buffered"},
    Name{FKT_ENGINE_CHECKIN, "checkin"}, Name{FKT_ENGINE_SENDFILE, "sendfile"},
    Name{FKT_ENGINE_URING, "uring"},
};
constexpr const char* kAuto = "auto";

}  // namespace

Result<std::optional<fkt_engine_id>> parse_engine(const std::string& word) {
  std::vector<std::string> names{kAuto};
  std::string list = kAuto;
  if (word == kAuto) return std::optional<fkt_engine_id>();
  for (const Name& name : kNames) {
    if (word == name.name) return std::optional(name.id);
    names.emplace_back(name.name);
    list += std::string(", ") + name.name;
  }
  return cli::usage("--drain: \"" + word + "\" is not one of " + list + did_you_mean(word, names));
}

const char* engine_name(std::uint32_t engine) {
  for (const Name& name : kNames) {
    if (name.id == engine) return name.name;
  }
  return "none";
}

}  // namespace fkt::record
