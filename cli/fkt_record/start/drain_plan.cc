// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/start/drain_plan.h"

#include "lib/base/os_error.h"

namespace fkt::record {
namespace {

Error cannot(const Output& output, fkt_engine_id engine, const std::string& why) {
  return {ErrorCode::io, std::string("--drain=") + engine_name(engine) + ": " + output.name() +
                             " " + why + " (--drain=auto takes the best it can do)"};
}

Result<DrainPlan> through_page_cache(const Output& output, fkt_engine_id engine, const char* why) {
  auto pages = FKT_TRY(output.open_for_pages(Output::Access::cached));
  return DrainPlan{engine, std::move(pages), why};
}

Result<DrainPlan> directly(const Output& output, const char* why) {
  auto pages = FKT_TRY(output.open_for_pages(Output::Access::direct));
  return DrainPlan{FKT_ENGINE_DIRECT, std::move(pages), why};
}

Result<DrainPlan> best_drain(const Output& output) {
  Result<DrainPlan> direct = directly(output, "the output can be written directly, without a copy");
  if (direct) return direct;
  return through_page_cache(output, FKT_ENGINE_BUFFERED,
                            "the output's file system has no direct writes");
}

}  // namespace

Result<DrainPlan> choose_drain(const Output& output, std::optional<fkt_engine_id> asked) {
  if (output.is_remote()) {
    if (asked && *asked != FKT_ENGINE_URING)
      return cannot(output, *asked, "is another machine, to which pages are only lent");
    return DrainPlan{FKT_ENGINE_URING, {}, "the output is another machine"};
  }
  if (output.is_stream()) {
    if (asked && *asked != FKT_ENGINE_SENDFILE) {
      return cannot(output, *asked, "is a stream, to which pages can be sent only (sendfile)");
    }
    return DrainPlan{FKT_ENGINE_SENDFILE, {}, "the output is a stream"};
  }
  if (!asked) return best_drain(output);
  switch (*asked) {
    case FKT_ENGINE_SENDFILE:
    case FKT_ENGINE_URING:
      return DrainPlan{*asked, {}, "as asked"};
    case FKT_ENGINE_DIRECT: {
      Result<DrainPlan> direct = directly(output, "as asked");
      if (!direct) return cannot(output, *asked, "cannot be written directly");
      return direct;
    }
    default:
      return through_page_cache(output, *asked, "as asked");
  }
}

}  // namespace fkt::record
