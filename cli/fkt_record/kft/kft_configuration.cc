// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/kft/kft_configuration.h"

#include <algorithm>
#include <memory>

#include <fkt/kft_config.h>

#include "cli/fkt_record/boot/boot_recorder.h"
#include "cli/fkt_record/sections/symbol_reader.h"
#include "lib/base/read_file.h"
#include "lib/base/text.h"
#include "lib/record/machine_checks.h"

namespace fkt::record {
namespace {

constexpr std::string_view kFunctions = "tTwW";  // types of symbols

// Looks functions up in the running kernel's list, which is read for the first of them.
class KernelFunctions {
 public:
  Result<std::string> at(std::uint64_t address) {
    if (!symbols_) {
      Result<KernelSymbols> read = SymbolReader().symbols();
      if (!read) return Error{ErrorCode::usage, read.error().message};
      symbols_ = std::make_unique<KernelSymbols>(std::move(*read));
    }
    if (symbols_->hidden) {
      return Error{ErrorCode::usage,
                   hex(address) +
                       ": the kernel hides its addresses from processes without CAP_SYSLOG "
                       "(sudo); a name would do"};
    }
    const auto found = std::ranges::find_if(symbols_->symbols, [&](const Symbol& symbol) {
      return symbol.address == address && kFunctions.find(symbol.type) != kFunctions.npos;
    });
    if (found != symbols_->symbols.end()) return std::string(found->name);
    return Error{ErrorCode::usage,
                 "no function of this kernel begins at " + hex(address) + " (see fkt_addr2sym)"};
  }

 private:
  std::unique_ptr<KernelSymbols> symbols_;
};

}  // namespace

Result<std::string> boot_configuration() {
  const Result<std::string> text = read_file(kBootParameter);
  if (!text) {
    return Error{ErrorCode::io,
                 text.error().message + ": " + doctor::why_no_device(doctor::this_machine())};
  }
  const std::size_t begin = text->find_first_not_of(" \t\n");
  if (begin == std::string::npos) {
    return Error{ErrorCode::usage,
                 "--from-boot: fkt.kft=\"...\" is not on the kernel's command line; give it, or "
                 "--kft FILE, or -i"};
  }
  if ((*text)[begin] != '/') return std::string(kBootParameter);
  return text->substr(begin, text->find_last_not_of(" \t\n") + 1 - begin);
}

Result<KftPlan> plan_kft_text(std::string_view text, const std::string& path) {
  KernelFunctions functions;
  return plan_kft(text, path, [&](std::uint64_t address) { return functions.at(address); });
}

Result<KftPlan> read_kft_plan(const std::string& path) {
  const Result<std::string> text = read_file(path == "-" ? "/dev/stdin" : path, FKT_KFT_TEXT_BYTES);
  if (!text) return Error{ErrorCode::usage, "--kft: " + text.error().message};
  return plan_kft_text(*text, path);
}

std::string explain_kft(const KftRecording& recording) {
  const KftPlan& plan = recording.plan;
  std::string text, others, command = "fkt_record -k " + shell_word(recording.layers);
  for (const std::string& sentence : plan.explanation) text += sentence + '\n';
  for (std::size_t i = 0; i < recording.instruments.size(); i++) {
    const std::string& line = recording.instruments[i].text;
    command += " \\\n    -i " + shell_word(line);
    if (i >= plan.instruments.size()) others += (others.empty() ? "" : ", ") + line;
  }
  if (!others.empty()) text += "recorded, too, is " + others + '\n';
  if (recording.keep_children) {
    // The text of the plan already has the plan's rule.
    if (!plan.keep) text += recording.keep_children->words() + '\n';
    const std::string rule = recording.keep_children->text();
    command += " \\\n    --keep-children" + (rule.empty() ? "" : '=' + rule);
  }
  if (recording.duration_ns) {
    const std::string duration = time_text(*recording.duration_ns);
    if (!plan.lasts) text += "it ends " + duration + " after its begin at the latest\n";
    command += " \\\n    --duration " + duration;
  }
  if (plan.overwrites) command += " \\\n    --when-full=overwrite";
  return text + "\nas instruments: " + command + '\n';
}

}  // namespace fkt::record
