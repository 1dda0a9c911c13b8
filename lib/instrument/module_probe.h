// SPDX-License-Identifier: GPL-2.0-only
// Probes in the code of kernel modules (include/fkt/probe.h). The form of their descriptions:
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
  std::string name;  // empty: the description has none
  unsigned layer = 0;
  std::vector<Prototype::Argument> fields;  // types: of probe_types()
  std::string wrong;                        // why it cannot be recorded; empty: it can
};

// Returns the types of all probes' fields. Made at the first call; never freed.
const Btf& probe_types();

// Returns the probe of this description, "fkt1 LAYER NAME ...". An error is in ModuleProbe::wrong.
ModuleProbe parse_probe(std::string_view module, std::string_view description);

// Returns the probes that FKT_MODULE_PROBES lists, sorted by module and name, without duplicates.
// lines: "MODULE<TAB>DESCRIPTION".
std::vector<ModuleProbe> parse_probe_list(std::string_view lines);

// Returns the probes in a module's file (.ko, not compressed), sorted likewise. path: gives the
// module's name.
std::vector<ModuleProbe> probes_in_file(const std::string& path, std::string_view contents);

// Returns "my_driver" for "/lib/modules/6.1.0/extra/my-driver.ko.xz".
std::string module_of_file(std::string_view path);

}  // namespace fkt
