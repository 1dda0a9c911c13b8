// SPDX-License-Identifier: GPL-2.0-only
// What a file of several tells beside its events (--rotate): it reads as one by itself.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cli/fkt_record/part_file.h"
#include "cli/fkt_record/task_list.h"
#include "lib/device.h"
#include "lib/file_writer.h"

namespace fkt::record {

// Makes the heads of the files after the first one, and knows who lived when they began. One thread
// at a time.
class PartHeads {
 public:
  enum class Kind { rotated, snapshot };
  // first: the head of the first file, of which most holds for the others.
  PartHeads(std::string first, const TaskList& tasks, Kind kind = Kind::rotated);
  // Ahead of time: what takes long of the next head.
  Status prepare();
  // number: of the file, from 1. before: what the files before it hold, and what was lost.
  Result<std::string> head(unsigned number, const PartCpus& before);
  // The file with the last head has begun. Its head's list of tasks is older.
  void note_tasks();
  // FKT_SEC_TASKS_END of file `number`: those who lived when it began, and before. Asked for once.
  std::string take_tasks(unsigned number);
  // ... of the last one, and those of now.
  std::string tasks_until_now() const;

 private:
  struct Prepared {
    fkt_file_header header{};  // the first file's
    Sections sections;
    std::string tasks, listed;
  };
  std::string first_;
  TaskList list_;
  Kind kind_;
  std::optional<Prepared> prepared_;
  std::string tasks_;  // who lived at the last look
  unsigned last_ = 0;  // file that has a head
  std::map<unsigned, std::string>
      listed_;  // of files: who lived at the last look and the one before
};

// How a file ends that is not the recording's last.
struct PartEnd {
  fkt_status status{};  // of now; stop_clock: where the file ends, 0: with its last page
  fkt_clocks now{};
  const char* reason = "rotated";
  std::string because{};  // ... of what event; empty: of none
  // Of a flight recorder: what is in no page of this file and was recorded before, and what was
  // lost by then.
  PartCpus gone{};
};

// Totals, interrupts and tables of a file that others follow. tasks: FKT_SEC_TASKS_END; empty: its
// head's are good.
Result<Sections> part_tail(const PartEnd& end, const PartFile& part, const std::string& tasks);
// The same of a file that --rotate finished, as things are now. clock: of the recording.
Result<Sections> part_tail(const Device& device, fkt_clock_source clock, const PartFile& part,
                           const std::string& tasks);

}  // namespace fkt::record
