// SPDX-License-Identifier: GPL-2.0-only
// The events of a time interval as text, for the list of the page.
#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "lib/timeline/timeline.h"

namespace fkt::cli {

struct EventListRequest {
  std::uint64_t from = 0, to = 0;  // ticks, from <= clock < to
  std::optional<std::uint32_t> cpu;
  std::optional<TaskIndex> task;  // the task that was running
  std::size_t most = 200;
};

// Returns {"events": [{time, cpu, tid, task_name, depth, text}], "more": true if there are further
// events}; times are ticks since `zero`.
nlohmann::json list_events(const Timeline& timeline, const EventListRequest& request,
                           std::uint64_t zero);

}  // namespace fkt::cli
