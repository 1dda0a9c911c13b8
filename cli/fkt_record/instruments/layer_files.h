// SPDX-License-Identifier: GPL-2.0-only
// Finds the lists of instruments of layers: NAME.layer in /etc/fkt/layers, else in share/fkt/layers
// beside the folder of this program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/layer_file.h"

namespace fkt::record {

// The layers that an option names, and their lists.
struct LayerChoice {
  std::uint64_t mask = 0;
  std::vector<LayerFile> files;

  // Adds the other's layers, and its lists that are not in this one.
  void add(LayerChoice other);
};

// Parses the value of `option`: bits, names of layers and paths of layer files (which have a "/" in
// them), with commas between. Error (usage): there is no such layer or file, or a file is wrong.
Result<LayerChoice> choose_layers(std::string_view option, std::string_view text);

// Returns a line for each layer: its bit, its name, the source of its events, a description.
std::string layers_text();

}  // namespace fkt::record
