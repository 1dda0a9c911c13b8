// SPDX-License-Identifier: GPL-2.0-only
// The probes of modules (include/fkt/probe.h) that places of instruments may mean: those of loaded
// modules, and those in the files of modules that may be loaded later.
#pragma once

#include <span>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/module_probe.h"
#include "lib/instrument/place.h"
#include "lib/record/device.h"

namespace fkt::record {

class ProbeSource {
 public:
  // Reads the probes of the loaded modules. Error (io): the module fkt does not give them.
  static Result<ProbeSource> read(const Device& device);

  // Returns the probes of all loaded modules and, if the place names a file or a module that is not
  // loaded, those of the file. Error: there is no such file, or it cannot be read.
  Result<std::vector<ModuleProbe>> probes(const Place& place) const;

 private:
  explicit ProbeSource(std::vector<ModuleProbe> loaded) : loaded_(std::move(loaded)) {}

  std::vector<ModuleProbe> loaded_;
};

}  // namespace fkt::record
