// SPDX-License-Identifier: GPL-2.0-only
// fkt_setmask MASK: sets the layers of the recording that runs.
#include "cli/change_mask.h"

int main(int argc, char** argv) {
  return fkt::cli::change_mask(argc, argv, "Sets the layers of the recording that runs.",
                               &fkt::Device::set_mask);
}
