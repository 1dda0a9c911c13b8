// SPDX-License-Identifier: GPL-2.0-only
// Main program of fkt_enable, fkt_disable and fkt_setmask, which differ only in the device call
// they make.
#pragma once

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "lib/format/layer_mask.h"
#include "lib/record/device.h"

namespace fkt::cli {

using MaskCall = Result<bool> (Device::*)(std::uint64_t mask);

inline int change_mask(int argc, const char* const* argv, const char* about, MaskCall call) {
  Options options(
      "MASK", std::string(about) + "\nMASK: bits (0x401, 1025) or layer names (system,process).");
  options.positional("MASK", 1);
  if (const auto status = options.parse(argc, argv)) return *status;
  if (options.arguments().empty()) return fail(usage("a MASK is needed (see --help)"));
  const Result<std::uint64_t> mask = parse_mask("MASK", options.arguments().front());
  if (!mask) return fail(mask.error());

  Result<Device> device = Device::open();
  if (!device) return fail(device.error());
  const Result<bool> done = ((*device).*call)(*mask);
  if (!done) return fail(done.error());
  if (!*done) return fail({ErrorCode::io, "nothing is being recorded"});
  return kDone;
}

}  // namespace fkt::cli
