// SPDX-License-Identifier: GPL-2.0-only
// Probes that kernel modules bring along (include/fkt/probe.h), as their descriptions say:
//
//   fkt1 LAYER NAME [FIELD=TYPE ...]
//
// TYPE: u8 u16 u32 u64, s8 s16 s32 s64, ptr, or str8 str16 ... str64 (bytes of a text). FIELDs are
// the words of a hit, in their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/btf.h"

namespace fkt {

struct ModuleProbe {
  std::string module;
  std::string description;
  std::string name;  // empty: the description does not even have that
  unsigned layer = 0;
  std::vector<Prototype::Argument> fields;  // types: of probe_types()
  std::string wrong;                        // why it cannot be recorded; empty: it can
};

// The types of all probes' fields.
const Btf& probe_types();

ModuleProbe parse_probe(std::string_view module, std::string_view description);

// The probes that FKT_MODULE_PROBES lists, each once, by module and name.
std::vector<ModuleProbe> parse_probe_list(std::string_view lines);

// The probes in a module's file (.ko, not compressed), whose path has the module's name.
std::vector<ModuleProbe> probes_in_file(const std::string& path, std::string_view contents);

// "my_driver" for "/lib/modules/6.1.0/extra/my-driver.ko.xz".
std::string module_of_file(std::string_view path);

}  // namespace fkt
