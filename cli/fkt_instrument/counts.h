// SPDX-License-Identifier: GPL-2.0-only
// The counts of instruments as fkt_instrument shows them.
#pragma once

#include <string>
#include <string_view>

namespace fkt::cli {

// lines: as the recorder answers InstrumentsAsk::Command::list: number, kept, dropped, missed,
// places, text.
std::string counts_table(std::string_view lines);

}  // namespace fkt::cli
