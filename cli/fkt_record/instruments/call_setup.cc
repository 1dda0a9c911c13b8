// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/call_setup.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "lib/base/unique_fd.h"
#include "lib/instrument/btf.h"
#include "lib/record/kernel_symbols.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {
namespace {

Error unsupported(const Instrument& instrument, const std::string& what) {
  return {ErrorCode::usage, "-i \"" + instrument.text + "\": " + what};
}

// Error (io): the kernel lets nobody trace functions.
Status check_ftrace(const char* path) {
  const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  // Not EACCES, which is for users without a capability.
  if (!fd && errno == EPERM) {
    return Error{ErrorCode::io,
                 "-i: the kernel is locked down (confidentiality) and lets nobody trace functions"};
  }
  if (!fd && errno == ENODEV) {
    return Error{ErrorCode::io,
                 "-i: ftrace has switched itself off after an error (see the kernel's log), until "
                 "the next boot"};
  }
  return Done{};
}

// The functions that ftrace can trace. Error (io): tracefs is not there, or closed to everybody.
Result<std::string> available_functions() {
  const char* const path = "/sys/kernel/tracing/available_filter_functions";
  const Status open = check_ftrace(path);
  if (!open) return open.error();
  Result<std::string> text = read_file(path);
  if (!text) text = read_file("/sys/kernel/debug/tracing/available_filter_functions");
  if (text) return text;
  return Error{ErrorCode::io, text.error().message +
                                  ": -i needs the list of functions that can be traced (mount -t "
                                  "tracefs nodev /sys/kernel/tracing)"};
}

// The types of the kernel and of its modules, read when they are asked for.
class Types {
 public:
  static Result<Types> read() {
    Result<Btf> kernel = Btf::of_kernel();
    if (!kernel) return kernel.error();
    return Types(std::move(*kernel));
  }

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
  explicit Types(Btf kernel) : kernel_(std::move(kernel)) {}

  Btf kernel_;
  std::map<std::string, std::optional<Btf>> modules_;
};

// Returns the fields in the form of a line "values" of the catalogue (man fkt-file.5).
std::string catalogue_fields(std::span<const RecordedField> fields) {
  std::string text;
  for (const RecordedField& field : fields) {
    if (!text.empty()) text += ' ';
    const auto [type, bits] = [&]() -> std::pair<std::string_view, unsigned> {
      switch (field.kind) {
        case RecordedField::Kind::text:
          return {"str", 64u * field.words};
        case RecordedField::Kind::address:
          return {"addr", 64};
        case RecordedField::Kind::signed_number:
          return {"s", 64};
        case RecordedField::Kind::number:
          break;
      }
      return {"u", 64};
    }();
    text += field.name + ':' + std::string(type) + ':' + std::to_string(field.first_word + 1) +
            ":0:" + std::to_string(bits);
  }
  return text;
}

}  // namespace

Status check_instrument(const Instrument& instrument) {
  if (instrument.place.kind != Place::Kind::call) {
    return unsupported(instrument, "only calls of functions can be recorded (call:NAMES)");
  }
  if (instrument.action.kind != Action::Kind::record) {
    return unsupported(instrument, "calls can only be recorded (do record)");
  }
  return Done{};
}

Result<CallSetup> CallSetup::make(std::span<const Instrument> instruments,
                                  double ticks_per_second) {
  Result<std::string> kallsyms = read_file("/proc/kallsyms");
  if (!kallsyms) return kallsyms.error();
  const KernelSymbols symbols = parse_kallsyms(std::move(*kallsyms));
  if (symbols.hidden) {
    return Error{ErrorCode::io,
                 "-i: the kernel hides its addresses from who lacks CAP_SYSLOG (sudo)"};
  }
  const Result<std::string> available = available_functions();
  if (!available) return available.error();
  const TraceableFunctions traceable(*available);
  Result<Types> types = Types::read();
  if (!types) return types.error();
  const CallPlanSources sources{symbols.symbols,
                                traceable,
                                [&](std::string_view module) { return types->of(module); },
                                ticks_per_second,
                                {}};
  CallSetup setup;
  for (const Instrument& instrument : instruments) {
    Result<CallPlan> plan = plan_calls(instrument, sources);
    if (!plan) return Error{plan.error().code, "-i: " + plan.error().message};
    setup.parts_.push_back({.text = instrument.text, .left_out = std::move(plan->left_out)});
    setup.add(std::move(*plan), static_cast<std::uint16_t>(setup.parts_.size() - 1));
  }
  const Status made = setup.finish();
  if (!made) return made.error();
  return setup;
}

void CallSetup::add(CallPlan plan, std::uint16_t instrument) {
  const std::uint32_t first_program = program_count_;
  for (const CallPrograms& programs : plan.programs) {
    for (const ProgramBlock* const block : {&programs.entry, &programs.exit}) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&block->program());
      programs_.insert(programs_.end(), bytes, bytes + block->bytes());
    }
    program_count_++;
  }
  // Functions with the same values get numbers that follow each other: one line of the catalogue
  // describes them.
  std::ranges::stable_sort(plan.taken, {}, &CallPlan::Taken::programs);
  std::unordered_set<std::uint64_t> known;
  for (const fkt_called& called : functions_) known.insert(called.function);
  for (CallPlan::Taken& taken : plan.taken) {
    if (!known.insert(taken.address).second) {
      parts_[instrument].taken_before++;
      continue;
    }
    const auto number = static_cast<std::uint32_t>(names_.size());
    functions_.push_back({.function = taken.address,
                          .number = number,
                          .program = static_cast<std::uint16_t>(first_program + taken.programs),
                          .instrument = instrument});
    names_.push_back(std::move(taken.name));
    add_values(number, first_program + taken.programs, plan.programs[taken.programs].fields);
    parts_[instrument].functions++;
  }
  if (parts_[instrument].functions > 0) shortest_ = std::min(shortest_, plan.shortest);
}

void CallSetup::add_values(std::uint32_t number, std::size_t program,
                           std::span<const RecordedField> fields) {
  if (fields.empty()) return;
  if (!values_.empty() && values_.back().program == program) {
    values_.back().last = number;
  } else {
    values_.push_back({number, number, program, catalogue_fields(fields)});
  }
}

Status CallSetup::finish() {
  for (const Part& part : parts_) {
    if (part.functions > 0) continue;
    return Error{ErrorCode::usage,
                 "-i \"" + part.text + "\": instruments before it have all functions that fit"};
  }
  if (functions_.size() > FKT_CALLS_MOST || program_count_ > UINT16_MAX ||
      programs_.size() > FKT_CALLS_PROGRAM_BYTES || parts_.size() > FKT_CALLS_INSTRUMENTS) {
    return Error{ErrorCode::usage, "-i: too many functions (at most " +
                                       std::to_string(FKT_CALLS_MOST) + ") or instruments"};
  }
  std::ranges::sort(functions_, {}, [](const fkt_called& called) { return called.function; });
  fkt_calls& a = *arguments_;
  a.functions = reinterpret_cast<std::uintptr_t>(functions_.data());
  a.programs = reinterpret_cast<std::uintptr_t>(programs_.data());
  a.shortest = shortest_;
  a.count = static_cast<std::uint32_t>(functions_.size());
  a.program_bytes = static_cast<std::uint32_t>(programs_.size());
  a.program_count = program_count_;
  a.instruments = static_cast<std::uint32_t>(parts_.size());
  return Done{};
}

std::string CallSetup::catalogue_lines() const {
  std::string lines;
  for (std::size_t number = 0; number < names_.size(); number++) {
    lines += "name\tfunction\t" + std::to_string(number) + '\t' + names_[number] + '\n';
  }
  for (const Values& values : values_) {
    lines += "values\tfunction\t" + std::to_string(values.first) + '\t' +
             std::to_string(values.last) + '\t' + values.fields + '\n';
  }
  return lines;
}

}  // namespace fkt::record
