// SPDX-License-Identifier: GPL-2.0-only
// The head and tail sections of one file of several (--rotate, snapshots). Each file can be read
// without the others.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/fkt_record/output/part_file.h"
#include "cli/fkt_record/sections/defined.h"
#include "cli/fkt_record/sections/task_list.h"
#include "lib/format/file_writer.h"
#include "lib/record/device.h"

namespace fkt::record {

// Makes the heads of the files after the first one, and keeps the list of tasks that were alive
// when each began. Calls must not overlap: one thread at a time.
class PartHeads {
 public:
  enum class Kind { rotated, snapshot };
  // first: the head of the first file. Most of its sections are copied into the other heads.
  PartHeads(std::string first, const TaskList& tasks, std::shared_ptr<const Defined> defined,
            Kind kind = Kind::rotated);
  // Does the slow part of the next head in advance: lists all tasks.
  Status prepare();
  // Payload of FKT_SEC_DEFINITIONS_END of a file that ends now.
  std::string definitions() const { return defined_->lines(); }
  // Makes the head of file `number` (from 1). before: per CPU, what the files before it hold and
  // how many events were lost.
  Result<std::string> head(unsigned number, const PartCpus& before);
  // Lists the tasks again. Called when the file with the last head has begun, because its head's
  // list was made in advance.
  void note_tasks();
  // Payload of FKT_SEC_TASKS_END of file `number`: tasks alive when it began, or at the list before
  // that. Can be taken once per file.
  std::string take_tasks(unsigned number);
  // As take_tasks(), for the last file, with the tasks that are alive now.
  std::string tasks_until_now() const;

 private:
  struct Prepared {
    fkt_file_header header{};  // of the first file
    Sections sections;
    std::string tasks, listed;
  };
  std::string first_;
  TaskList list_;
  std::shared_ptr<const Defined> defined_;
  Kind kind_;
  std::optional<Prepared> prepared_;
  std::string tasks_;  // tasks of the latest list
  unsigned last_ = 0;  // number of the last file whose head was made
  // By number of file: tasks of the two latest lists when its head was made.
  std::map<unsigned, std::string> listed_;
};

// How a file ends that is not the last one of its recording.
struct PartEnd {
  fkt_status status{};  // read now; stop_clock: where the file ends in ticks, 0: with its last page
  fkt_clocks now{};
  const char* reason = "rotated";
  std::string because{};  // the event that triggered the snapshot; empty: none
  // For a snapshot: per CPU, events recorded before it that are in none of its pages, and the
  // number lost before it.
  PartCpus gone{};
  std::string definitions{};  // payload of FKT_SEC_DEFINITIONS_END; empty: there are none
};

// Makes totals, interrupts and tables of a file that is not the last one. tasks: payload of
// FKT_SEC_TASKS_END; empty: the section is omitted because the list in the head is sufficient.
Result<Sections> part_tail(const PartEnd& end, const PartFile& part, const std::string& tasks);
// As above, for a file that --rotate has finished, with the device's current status and clocks.
// clock: the clock source of the recording.
Result<Sections> part_tail(const Device& device, fkt_clock_source clock, const PartFile& part,
                           const std::string& tasks, std::string definitions);

}  // namespace fkt::record
