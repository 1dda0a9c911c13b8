// SPDX-License-Identifier: GPL-2.0-only
// fkt_disable MASK: removes layers from the mask of the running recording.
#include "cli/base/change_mask.h"

int main(int argc, char** argv) {
  return fkt::cli::change_mask(argc, argv, "Takes layers out of the recording that runs.",
                               &fkt::Device::disable);
}
