// SPDX-License-Identifier: GPL-2.0-only
// fkt_setmask MASK: replaces the mask of layers of the running recording.
#include "cli/base/change_mask.h"

int main(int argc, char** argv) {
  return fkt::cli::change_mask(argc, argv, "Sets the layers of the recording that runs.",
                               &fkt::Device::set_mask);
}
