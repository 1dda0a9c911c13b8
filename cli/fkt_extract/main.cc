// SPDX-License-Identifier: GPL-2.0-only
// fkt_extract: copies a part of a recording into a recording of its own.
#include "cli/fkt_extract/extract.h"

int main(int argc, char** argv) {
  return fkt::cli::extract_slice(argc, argv);
}
