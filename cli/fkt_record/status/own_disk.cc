// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/status/own_disk.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

namespace fkt::record {

std::string own_disk_line(const std::vector<LayerFile>& layers, const std::string& file) {
  const bool shows_disks = std::ranges::any_of(
      layers, [](const LayerFile& layer) { return layer.layer == "block" || layer.layer == "fs"; });
  struct stat at {};
  if (!shows_disks || ::stat(file.c_str(), &at) != 0 || !S_ISREG(at.st_mode)) return {};
  // File systems that are on no disk have numbers of their own, with major 0.
  if (major(at.st_dev) == 0) return {};
  std::error_code error;
  const std::filesystem::path device = std::filesystem::read_symlink(
      fmt::format("/sys/dev/block/{}:{}", major(at.st_dev), minor(at.st_dev)), error);
  if (error) return {};
  return fmt::format(
      "{} is on {}: what is recorded of that disk has the writing of the file in it, and others "
      "wait for it (-f on another disk, --sync=0 or --flight avoid that)",
      file, device.filename().string());
}

}  // namespace fkt::record
