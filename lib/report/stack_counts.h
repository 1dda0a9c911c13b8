// SPDX-License-Identifier: GPL-2.0-only
// How often each stack was recorded, as lines that flame graphs are made of:
// "TASK;FUNCTION;...;FUNCTION COUNT", the outermost function first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "lib/base/text_writer.h"
#include "lib/format/metadata.h"

namespace fkt {

class StackCounts {
 public:
  // info must outlive the object.
  explicit StackCounts(const RecordingInfo& info) : info_(info) {}

  // Adds the event if it is a stack; others are ignored. A user stack belongs to the stack of the
  // kernel before it, of its CPU and thread, or is one alone.
  void add(const Event& event, std::string_view task);
  bool empty() const { return counts_.empty() && pending_.empty(); }
  // Writes a line for each stack, in their order as texts.
  void write(TextWriter& out);

 private:
  struct Pending {  // a stack of the kernel whose user stack may follow
    std::uint32_t pid = 0;
    std::string task, functions;
  };

  void finish(const Pending& pending, const std::string& user);

  const RecordingInfo& info_;
  std::map<std::uint32_t, Pending> pending_;  // by CPU
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fkt
