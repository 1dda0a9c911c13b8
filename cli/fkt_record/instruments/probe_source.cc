// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/probe_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/fkt_record/instruments/module_file.h"
#include "lib/instrument/probe_plan.h"

namespace fkt::record {
namespace {

bool is_loaded(const std::string& module) {
  std::error_code error;
  return std::filesystem::exists("/sys/module/" + module, error);
}

}  // namespace

Result<ProbeSource> ProbeSource::read(const Device& device) {
  const auto lines = FKT_TRY(device.module_probes());
  return ProbeSource(parse_probe_list(lines));
}

Result<std::vector<ModuleProbe>> ProbeSource::probes(const Place& place) const {
  std::string path = place.group;
  Result<std::string> contents = std::string();
  if (place.is_file()) {
    contents = read_module_file(path);
  } else {
    const bool is_pattern = place.group.find_first_of("*?") != place.group.npos;
    std::string module = place.group;
    std::ranges::replace(module, '-', '_');
    if (is_pattern || is_loaded(module)) return loaded_;
    contents = read_module(module, path);
  }
  if (!contents) return contents.error();
  return probes_in_file(path, *contents);
}

}  // namespace fkt::record
