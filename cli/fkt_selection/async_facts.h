// SPDX-License-Identifier: GPL-2.0-only
// What is known of asynchronous spans, such as requests to a disk, by the events that begin them.
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "cli/fkt_selection/model.h"

namespace fkt::cli {

// Returns an array of [begin, cpu, kind, [[name, text], ...]] of the spans that begin in [from,
// to), at most `most`, in time order: of each field of the event that begins the span its name and
// its value as text, of a file its path where the recording has it. begin: ticks since `zero`.
nlohmann::json async_facts(const Model& model, std::uint64_t from, std::uint64_t to,
                           std::size_t most);

}  // namespace fkt::cli
