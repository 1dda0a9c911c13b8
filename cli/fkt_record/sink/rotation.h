// SPDX-License-Identifier: GPL-2.0-only
// Consecutive files NAME.000001, NAME.000002, ..., each complete; with --keep the oldest are
// removed. A separate thread writes the tails and removes files.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/sink/file_sink.h"
#include "lib/base/background_task.h"

namespace fkt::record {

struct RotationPlan {
  OutputPlan output;               // files are named FILE.NUMBER
  std::optional<unsigned> keep{};  // number of finished files to keep; nothing: all
  PartRules part;                  // file_limit: bytes per file
};

class Rotation : public PartSource {
 public:
  struct Makers {
    // prepare: does the slow part of the next head in advance. head: makes the head of a file,
    // given its number and what the previous files hold. tail: makes the tail of a file after the
    // next one has begun.
    std::function<void()> prepare;
    std::function<Result<std::string>(unsigned, const PartCpus&)> head;
    std::function<Result<Sections>(const PartFile&)> tail;
  };
  // first: the first file, already open.
  Rotation(RotationPlan plan, const Output& first, Makers makers);

  // Called when the recording has begun: prepares the head of the second file.
  void start();

  // The name of file `number`, from 1.
  static std::string part_name(const std::string& name, unsigned number);
  // The files of an earlier recording with this name. Files that do not hold a recording are not
  // included.
  static std::vector<std::string> old_files(const std::string& name);
  static void remove_old(const std::string& name);
  // Opens the first file and removes those of an earlier recording. Error (io): they may not be
  // removed; (usage): the name cannot be that of files.
  static Result<Output> open_first(const OutputPlan& plan);

  Result<std::unique_ptr<PartFile>> next(const PartFile& before) override;
  void finish(std::unique_ptr<PartFile> part) override;
  void drop(std::unique_ptr<PartFile> part) override;

  // For --keep: file `newest` is complete, so removes the oldest file if there is one too many.
  void remove_oldest(unsigned newest);

  // Calls fdatasync(2) on the files being written. Returns 0 or errno. May be called from any
  // thread.
  int sync();
  // Waits until the tails are written. Returns the first error of writing one.
  Status join();

 private:
  void close(PartFile& part);

  const RotationPlan plan_;
  const Makers makers_;
  // Sets current_, the file being written, and previous_. Both are protected by mutex_.
  void now_writing(const Output& output);
  std::mutex mutex_;
  std::shared_ptr<const UniqueFd> current_, previous_;
  Status status_ = Done{};  // written by the closing thread; read when it is not running
  // Files up to this number are removed. Changed only while no thread is closing a file, or by that
  // thread.
  unsigned removed_ = 0;
  BackgroundTask closing_;  // declared last because it uses the others
};

}  // namespace fkt::record
