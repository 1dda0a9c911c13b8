// SPDX-License-Identifier: GPL-2.0-only
// The events of a time interval as text, for the list of the page.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "lib/timeline/timeline.h"

namespace fkt::cli {

struct EventListRequest {
  std::uint64_t from = 0, to = 0;  // ticks, from <= clock < to
  std::optional<std::uint32_t> cpu;
  std::optional<TaskIndex> task;  // the task that was running
  std::size_t most = 200;
};

struct ListedEvent {
  std::int64_t time = 0;  // ticks since `zero`
  std::uint32_t cpu = 0, tid = 0;
  TaskIndex task = 0;
  std::string_view task_name;
  std::size_t depth = 0;
  std::string_view text;
};
using ListEvent = std::function<void(const ListedEvent&)>;

// Calls `list` with each event; its texts are valid until it returns. Returns whether there are
// more than those.
bool list_events(const Timeline& timeline, const EventListRequest& request, std::uint64_t zero,
                 const ListEvent& list);

}  // namespace fkt::cli
