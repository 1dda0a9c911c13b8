// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/engine.h"

#include <array>
#include <vector>

#include "cli/base/common.h"
#include "lib/base/os_error.h"
#include "lib/base/suggest.h"

namespace fkt::record {
namespace {

struct Name {
  fkt_engine_id id;
  const char* name;
};
constexpr std::array kNames = {
    Name{FKT_ENGINE_DIRECT, "direct"},   Name{FKT_ENGINE_BUFFERED, "buffered"},
    Name{FKT_ENGINE_CHECKIN, "checkin"}, Name{FKT_ENGINE_FETCH, "sendfile"},
    Name{FKT_ENGINE_LEND, "uring"},
};
constexpr const char* kAuto = "auto";

Error cannot(const Output& output, fkt_engine_id engine, const std::string& why) {
  return {ErrorCode::io, std::string("--drain=") + engine_name(engine) + ": " + output.name() +
                             " " + why + " (--drain=auto takes the best it can do)"};
}

Result<Way> through_page_cache(const Output& output, fkt_engine_id engine, const char* why) {
  Result<UniqueFd> pages = output.open_for_pages(Output::Access::cached);
  if (!pages) return pages.error();
  return Way{engine, std::move(*pages), why};
}

Result<Way> directly(const Output& output, const char* why) {
  Result<UniqueFd> pages = output.open_for_pages(Output::Access::direct);
  if (!pages) return pages.error();
  return Way{FKT_ENGINE_DIRECT, std::move(*pages), why};
}

Result<Way> best_way(const Output& output) {
  Result<Way> direct = directly(output, "the output can be written directly, without a copy");
  if (direct) return direct;
  return through_page_cache(output, FKT_ENGINE_BUFFERED,
                            "the output's file system has no direct writes");
}

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

Result<Way> choose_way(const Output& output, std::optional<fkt_engine_id> asked) {
  if (output.is_remote()) {
    if (asked && *asked != FKT_ENGINE_LEND)
      return cannot(output, *asked, "is another machine, to which pages are only lent");
    return Way{FKT_ENGINE_LEND, {}, "the output is another machine"};
  }
  if (output.is_stream()) {
    if (asked && *asked != FKT_ENGINE_FETCH) {
      return cannot(output, *asked, "is a stream, to which pages can be sent only (sendfile)");
    }
    return Way{FKT_ENGINE_FETCH, {}, "the output is a stream"};
  }
  if (!asked) return best_way(output);
  switch (*asked) {
    case FKT_ENGINE_FETCH:
    case FKT_ENGINE_LEND:
      return Way{*asked, {}, "as asked"};
    case FKT_ENGINE_DIRECT: {
      Result<Way> direct = directly(output, "as asked");
      if (!direct) return cannot(output, *asked, "cannot be written directly");
      return direct;
    }
    default:
      return through_page_cache(output, *asked, "as asked");
  }
}

}  // namespace fkt::record
