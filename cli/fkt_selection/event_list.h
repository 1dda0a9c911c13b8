// SPDX-License-Identifier: GPL-2.0-only
// The events of a stretch in words, as the page lists them.
#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "lib/timeline.h"

namespace fkt::cli {

struct EventListRequest {
  std::uint64_t from = 0, to = 0;  // ticks, from <= clock < to
  std::optional<std::uint32_t> cpu;
  std::optional<TaskIndex> task;  // that ran
  std::size_t most = 200;
};

// {"events": [{time, cpu, tid, task_name, depth, text}], "more": are there further ones}; times are
// ticks since `zero`.
nlohmann::json list_events(const Timeline& timeline, const EventListRequest& request,
                           std::uint64_t zero);

}  // namespace fkt::cli
