// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/stack_counts.h"

#include <algorithm>
#include <utility>

#include "lib/base/text.h"
#include "lib/format/stack_frames.h"
#include "lib/report/call_tree_text.h"

namespace fkt {
namespace {

std::string part(std::string_view name) {
  TextWriter text;
  put_frame(text, name);
  return text.take();
}

}  // namespace

// Returns ";FUNCTION;FUNCTION", the outermost one first.
std::string StackCounts::functions(const Field& field, const Event& event, TaskIndex task) const {
  std::string text;
  bool is_innermost = true;
  for (const std::uint64_t address : frames_of(field, event, info_.symbols)) {
    if (field.type == FieldType::ustack) {
      text.insert(0, ';' + part(code_.function(task, address, is_innermost)));
    } else {
      const Symbol* const function = function_of(field, address, is_innermost, info_.symbols);
      text.insert(0, ';' + (function == nullptr ? hex(address) : part(function->name)));
    }
    is_innermost = false;
  }
  return text;
}

void StackCounts::add(const Event& event, const Analysis::Found& place) {
  code_.add(event, place);
  if (!place.shown) return;
  const std::string_view task = analysis_.tasks().name(place.task);
  const EventType* const type = info_.catalogue.find(event.id);
  if (type == nullptr) return;
  const auto field = std::ranges::find_if(type->fields, is_stack);
  if (field == type->fields.end()) return;
  const std::string text = functions(*field, event, place.task);
  const auto pending = pending_.find(event.cpu);
  const bool is_user = field->type == FieldType::ustack;
  if (is_user && pending != pending_.end() && pending->second.pid == event.pid) {
    finish(pending->second, text);
    pending_.erase(pending);
    return;
  }
  if (pending != pending_.end()) finish(pending->second, "");
  pending_.erase(event.cpu);
  // Of a place in a program there is no stack of the kernel.
  if (is_user) return finish({event.pid, part(task), ""}, text);
  pending_[event.cpu] = {event.pid, part(task), text};
}

void StackCounts::finish(const Pending& pending, const std::string& user) {
  counts_[pending.task + user + pending.functions]++;
}

void StackCounts::write(TextWriter& out) {
  for (const auto& [cpu, pending] : pending_) finish(pending, "");
  pending_.clear();
  for (const auto& [stack, count] : counts_) {
    out.put(stack);
    out.put(' ');
    out.number(count);
    out.put('\n');
  }
}

}  // namespace fkt
