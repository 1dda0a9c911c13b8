// SPDX-License-Identifier: GPL-2.0-only
// fkt_snapshot FILE: asks a running flight recorder to write its pages to FILE; the recording
// continues.
#include <unistd.h>

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/recorder.h"
#include "cli/base/units.h"
#include "lib/base/os_error.h"
#include "lib/record/output_file.h"
#include "lib/record/recorder_protocol.h"

namespace {

using namespace fkt;

struct SnapshotOptions {
  std::string file;
  bool force = false;
  std::uint64_t after_ns = 0;
  pid_t recorder = 0;  // pid; 0: the process that is recording now
};

Result<SnapshotOptions> read_options(const cli::Options& options) {
  if (options.arguments().empty()) return cli::usage("a FILE is needed (see --help)");
  SnapshotOptions asked{options.arguments().front(), options.has("force")};
  if (asked.file.empty()) return cli::usage("the FILE's name is empty");
  if (options.has("after")) {
    const Result<std::uint64_t> after = cli::parse_duration("--after", options.text("after"));
    if (!after) return after.error();
    if (*after > kMostSnapshotAfter) return cli::usage("--after: at most a day (24h)");
    asked.after_ns = *after;
  }
  asked.recorder = FKT_TRY(cli::recorder_of(options));
  return asked;
}

constexpr const char* kNoSnapshots =
    "takes no snapshots: only fkt_record --flight does (without --drain, into a file)";

// Removes the file on destruction if it did not exist before, unless keep() was called.
class NewFile {
 public:
  explicit NewFile(const std::string& name)
      : name_(name), mine_(::access(name.c_str(), F_OK) != 0 && errno == ENOENT) {}
  ~NewFile() {
    if (mine_) ::unlink(name_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  void keep() { mine_ = false; }

 private:
  const std::string name_;
  bool mine_;
};

// Asks the recorder for a snapshot. Returns its answer, a line like "FILE: 12,345 events of ...".
Result<RecorderAnswer> ask(const SnapshotOptions& asked) {
  const auto connection = FKT_TRY(cli::connect_to(asked.recorder, kNoSnapshots));
  NewFile created(asked.file);
  const Result<UniqueFd> file = open_output_file(asked.file, replace_rule(false, asked.force));
  if (!file) return file.error();
  const Status sent =
      send_ask(connection.get(), SnapshotAsk{asked.after_ns, asked.file}, file->get());
  // If sending failed, the recorder may still have sent a refusal, which says why.
  Result<RecorderAnswer> answer = receive_answer(connection.get());
  if (!answer && !sent) return sent.error();
  // Keeps the file if anything was written to it, even if the snapshot is incomplete.
  if (answer && (answer->done || ::lseek(file->get(), 0, SEEK_END) > 0)) created.keep();
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  cli::Options options("[options] FILE",
                       "Has a flight recorder (fkt_record --flight) write what it keeps, while it "
                       "goes on.");
  auto list = options.section("Options");
  list("after", cli::value("T"),
       "what happens within this time too (ns, us, ms, s, m, h; seconds if bare; default: 0)");
  cli::add_recorder_option(list);
  list("force", "overwrite FILE if there is one");
  options.positional("FILE", 1);
  if (const auto status = options.parse(argc, argv)) return *status;
  const Result<SnapshotOptions> asked = read_options(options);
  if (!asked) return cli::fail(asked.error());
  const Result<RecorderAnswer> answer = ask(*asked);
  if (!answer) return cli::fail(answer.error());
  if (!answer->done) return cli::fail({ErrorCode::io, answer->line});
  const Result<bool> put = cli::put_lines(answer->line + "\n");
  return put ? cli::kDone : cli::fail(put.error());
}
