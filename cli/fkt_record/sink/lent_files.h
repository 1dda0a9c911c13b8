// SPDX-License-Identifier: GPL-2.0-only
// The files that lent pages are written to: one, or with --rotate one after the other, each with a
// head and tail of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/fkt_record/sections/file_sections.h"
#include "cli/fkt_record/sections/part_sections.h"
#include "cli/fkt_record/sink/file_sink.h"
#include "cli/fkt_record/sink/rotation.h"

namespace fkt::record {

struct LentFilesPlan {
  OutputPlan output;               // with the name of -f
  std::uint64_t rotate = 0;        // bytes per file; 0: a single file
  std::optional<unsigned> keep{};  // number of finished files to keep; nothing: all
  fkt_clock_source clock = FKT_CLOCK_TSC;
  FileSinkRules sink;  // part.limit: of a single file; part.file_limit: set by LentFiles
  std::shared_ptr<const Defined> defined{};
};

class LentFiles {
 public:
  // Writes the head. first: the file, or the first of them; like `device` it must outlive the
  // object. Error (usage): the files of plan.rotate have no room for pages.
  static Result<std::unique_ptr<LentFiles>> make(const Device& device, const TaskList& tasks,
                                                 Output& first, const std::string& head,
                                                 const LentFilesPlan& plan);

  PageSink& sink() { return *sink_; }
  // How the pages are written, for the line that -v prints.
  std::string how() const { return sink_->how(); }
  // Returns the rules of writing, which snapshots use, too.
  const FileSinkRules& rules() const { return rules_; }

  // Called when the recording has begun, before start(): the head has changed, of files to come
  // too.
  void set_head(const std::string& head);
  // Prepares the second file.
  void start();
  // Calls fdatasync(2) on the files being written. Returns 0 or errno. May be called from any
  // thread.
  int sync();

  // Called when the last page is written. Returns when all files but the last one have their tails,
  // with the first error of writing one.
  Status finish_others();
  // Adds to `ending` the data about the last file for its tail.
  void describe_last(Ending& ending) const;
  std::uint64_t bytes_of_last() const { return sink_->part()->bytes(); }
  // Call it when the last file is complete: with plan.keep the oldest file may be removed.
  void last_is_complete();

 private:
  LentFiles(const Device& device, const TaskList& tasks, Output& first, const LentFilesPlan& plan);
  void make_rotation(const LentFilesPlan& plan, const std::string& head);

  const Device& device_;
  const TaskList tasks_;
  const std::shared_ptr<const Defined> defined_;
  Output& first_;
  FileSinkRules rules_;
  // Declared in this order, because each uses the ones before it.
  std::shared_ptr<PartHeads> heads_;  // null: there is a single file
  std::unique_ptr<Rotation> rotation_;
  std::unique_ptr<FileSink> sink_;
};

}  // namespace fkt::record
