// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/recorder.h"

#include <signal.h>

#include <cerrno>
#include <string>

#include <fkt/wire.h>

#include "cli/base/units.h"
#include "lib/record/device.h"

namespace fkt::cli {
namespace {

Result<pid_t> who_records() {
  const auto device = FKT_TRY(Device::open());
  const auto status = FKT_TRY(device.status());
  if (status.state != FKT_RECORDING || status.recorder == 0) {
    return Error{ErrorCode::io, "nothing is being recorded"};
  }
  return static_cast<pid_t>(status.recorder);
}

}  // namespace

void add_recorder_option(boost::program_options::options_description_easy_init options) {
  options("recorder", value("PID"), "the recorder (default: the one that records)");
}

Result<pid_t> recorder_of(const Options& options) {
  if (!options.has("recorder")) return pid_t{0};
  const auto pid = FKT_TRY(parse_whole("--recorder", options.text("recorder"), 1, FKT_PID_MASK));
  return static_cast<pid_t>(pid);
}

Result<UniqueFd> connect_to(pid_t recorder, const char* refusal) {
  const Result<pid_t> pid = recorder ? Result<pid_t>(recorder) : who_records();
  if (!pid) return pid.error();
  Result<UniqueFd> connection = connect_to_recorder(*pid);
  if (connection) return connection;
  const std::string name = std::to_string(*pid);
  if (::kill(*pid, 0) != 0 && errno == ESRCH) {
    return Error{ErrorCode::io, "no process has the pid " + name};
  }
  return Error{ErrorCode::io, "process " + name + ' ' + refusal};
}

}  // namespace fkt::cli
