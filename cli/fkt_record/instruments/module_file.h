// SPDX-License-Identifier: GPL-2.0-only
// The files of modules of the running kernel.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.h"

namespace fkt::record {

// Returns the path of the file that modprobe would load, or of none: "". modules_dep: contents of
// /lib/modules/RELEASE/modules.dep; folder: its folder.
std::string file_of_module(std::string_view modules_dep, const std::string& folder,
                           std::string_view module);

// Returns whether the module is not loaded, but modprobe would find a file of that name.
bool may_come(std::string_view module);

// Returns the contents of a module's file. Error (usage): it is compressed; (io): it cannot be
// read.
Result<std::string> read_module_file(const std::string& path);

// Reads the file of a module that is not loaded. Error: there is none, or as above. path: set to
// the file's.
Result<std::string> read_module(std::string_view module, std::string& path);

}  // namespace fkt::record
