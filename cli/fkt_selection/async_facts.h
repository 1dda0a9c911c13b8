// SPDX-License-Identifier: GPL-2.0-only
// What is known of asynchronous spans, such as requests to a disk, by the events that begin them.
#pragma once

#include <cstdint>

#include "cli/fkt_selection/model.h"
#include "lib/base/json_writer.h"

namespace fkt::cli {

// Writes an array of [begin, cpu, kind, [[name, text], ...]] of the spans that begin in [from,
// to), at most `most`, in time order: of each field of the event that begins the span its name and
// its value as text, of a file its path where the recording has it. begin: ticks since `zero`.
void put_async_facts(JsonWriter& json, const Model& model, std::uint64_t from, std::uint64_t to,
                     std::size_t most);
// Writes the last of these, [[name, text], ...], of the span that begins at `from` on this CPU; an
// empty array if none does.
void put_facts_of_span(JsonWriter& json, const Model& model, std::uint64_t from, std::uint32_t cpu);

}  // namespace fkt::cli
