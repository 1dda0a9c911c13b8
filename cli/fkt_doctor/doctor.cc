// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_doctor/doctor.h"

#include <filesystem>
#include <utility>

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/fkt_doctor/disk_speed.h"
#include "lib/base/os_error.h"
#include "lib/base/text_writer.h"
#include "lib/record/machine_checks.h"

namespace fkt::cli {
namespace {

constexpr std::uint64_t kTrialBytes = 64 << 20;
constexpr std::size_t kWhatWidth = 15;

void put_finding(TextWriter& out, const doctor::Finding& finding) {
  static constexpr const char* kVerdicts[] = {"ok      ", "note    ", "BLOCKED "};
  out.put(kVerdicts[static_cast<std::size_t>(finding.verdict)]);
  out.left(finding.what, kWhatWidth);
  out.message(finding.found);
  out.put('\n');
  if (finding.remedy.empty()) return;
  out.fill(8 + kWhatWidth);
  out.put("-> ");
  out.message(finding.remedy);
  out.put('\n');
}

Status check_folder(const std::string& option, const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return Done{};
  return usage(option + ": " + folder.string() + ": " +
               (error ? os_error(error.value()) : "it is no folder"));
}

}  // namespace

int examine_machine(int argc, const char* const* argv) {
  Options options("[options]",
                  "Says what on this machine stands in the way of recording, and what to type.");
  auto add = options.section("What is examined");
  add("out", value("FOLDER"), "where recordings will be written (default: .)");
  add("root", value("FOLDER"),
      "another machine's files: its /sys, /proc, /dev and /lib are in this folder");
  add("kernel", value("RELEASE"), "the kernel's release (default: of the one that runs)");
  add("no-disk", "do not measure how fast that folder is, which writes 64 MB");
  if (const auto status = options.parse(argc, argv)) return *status;
  doctor::Machine machine = doctor::this_machine();
  if (options.has("kernel")) machine.release = options.text("kernel");
  if (options.has("root")) machine.root = options.text("root");
  machine.out = options.has("out") ? options.text("out") : std::string(".");
  for (const auto& [name, folder] : {std::pair("--root", &machine.root), {"--out", &machine.out}}) {
    const Status good = check_folder(name, *folder);
    if (!good) return fail(good.error());
  }
  std::vector<doctor::Finding> findings = doctor::check_machine(machine);
  if (!options.has("no-disk")) {
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(machine.out, error);
    findings.push_back(doctor::judge_speed(
        machine.out, doctor::disk_speed(machine.out, kTrialBytes), error ? 0 : space.available));
  }
  TextWriter out;
  bool blocked = false;
  for (const doctor::Finding& finding : findings) {
    put_finding(out, finding);
    blocked |= finding.verdict == doctor::Verdict::blocked;
  }
  const Result<bool> written = put(out.view());
  if (!written) return fail(written.error());
  return blocked ? kFailed : kDone;
}

}  // namespace fkt::cli
