// SPDX-License-Identifier: GPL-2.0-only
// The types of the kernel and of its modules, each read at its first use.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/instrument/btf.h"

namespace fkt::record {

class KernelTypes {
 public:
  // Reads the kernel's own types. Error (io): the kernel does not describe them.
  static Result<KernelTypes> read() {
    auto kernel = FKT_TRY(Btf::of_kernel());
    return KernelTypes(std::move(kernel));
  }

  // Returns the types of a module, or of the kernel itself if the name is empty; nullptr if they
  // are not described.
  const Btf* of(std::string_view module) {
    if (module.empty()) return &kernel_;
    const std::string name(module);
    const auto found = modules_.find(name);
    if (found != modules_.end()) return found->second ? &*found->second : nullptr;
    Result<Btf> btf = kernel_.of_module(name);
    std::optional<Btf>& slot = modules_[name];
    if (btf) slot.emplace(std::move(*btf));
    return slot ? &*slot : nullptr;
  }

 private:
  explicit KernelTypes(Btf kernel) : kernel_(std::move(kernel)) {}

  Btf kernel_;
  std::map<std::string, std::optional<Btf>> modules_;
};

}  // namespace fkt::record
