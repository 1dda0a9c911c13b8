// SPDX-License-Identifier: GPL-2.0-only
// fkt_enable MASK: adds layers to the mask of the running recording.
#include "cli/base/change_mask.h"

int main(int argc, char** argv) {
  return fkt::cli::change_mask(argc, argv, "Adds layers to the recording that runs.",
                               &fkt::Device::enable);
}
