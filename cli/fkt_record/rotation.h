// SPDX-License-Identifier: GPL-2.0-only
// Files that follow one another: NAME.000001, NAME.000002, ..., each complete by itself, of which
// the oldest go. Tails are written, and files removed, by a thread of their own.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/fkt_record/file_sink.h"
#include "cli/fkt_record/request.h"
#include "cli/fkt_record/user.h"

namespace fkt::record {

class Rotation : public PartSource {
 public:
  struct Makers {
    // Ahead of time, what takes long of a head; the head, from the number of its file and the
    // events lost before; the tail of a file after which the next one has begun.
    std::function<void()> prepare;
    std::function<Result<std::string>(unsigned, const PartCpus&)> head;
    std::function<Result<Sections>(const PartFile&)> tail;
  };
  // keep: finished files that stay; nothing: all. rules.file_limit: bytes of a file. `owner` gets
  // the files.
  Rotation(const Request& request, std::optional<User> owner, const PartRules& rules,
           const Output& first, Makers makers);
  ~Rotation() override;

  // The recording has begun: there will be another file, sooner or later.
  void start();

  // The name of a file by its number, from 1.
  static std::string part_name(const std::string& name, unsigned number);
  // The files of an earlier recording by that name; what is no recording is left alone.
  static std::vector<std::string> old_files(const std::string& name);
  static void remove_old(const std::string& name);

  Result<std::unique_ptr<PartFile>> next(const PartFile& before) override;
  void finish(std::unique_ptr<PartFile> part) override;
  void drop(std::unique_ptr<PartFile> part) override;

  // --keep: removes the file that is one too many when file `newest` is complete.
  void remove_oldest(unsigned newest);

  // The files that are being written to get onto the disk; 0 or errno. From any thread.
  int sync();
  // Waits for tails that are being written; the first error of one.
  Status join();

 private:
  void close(PartFile& part);

  const Request request_;
  const std::optional<User> owner_;
  const PartRules rules_;
  const Makers makers_;
  // Under the mutex: the file that is written to, and the one before it.
  void now_writing(const Output& output);
  std::mutex mutex_;
  std::shared_ptr<const UniqueFd> current_, previous_;
  Status status_ = Done{};  // the closing thread's, while it runs
  // Files up to this number; changes while no thread is closing one, or in that thread.
  unsigned removed_ = 0;
  std::thread closing_;
};

}  // namespace fkt::record
