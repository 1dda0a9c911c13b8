// SPDX-License-Identifier: GPL-2.0-only
// CallSource: calls from an FKT recording or a KFT text log, for tools that read both.
//
//   fkt::Result<fkt::CallSource> source = fkt::CallSource::open(path);
//   if (!source) return fail(source.error());
//   source->select({});
//   if (auto status = source->read(&observer, progress); !status) return fail(status.error());
//   rows = fkt::function_rows(source->profile(), source->types());
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lib/analyse/analysis.h"
#include "lib/analyse/task_activity.h"
#include "lib/base/mapped_file.h"
#include "lib/calls/function_table.h"
#include "lib/calls/kft_nesting.h"

namespace fkt {

// Called from time to time with the number of events read so far and in total. Returns false to
// stop reading.
using ReadProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

class CallSource {
 public:
  // Opens a recording or a log. path "-": standard input. Error: the file cannot be read, or is
  // neither of the two.
  static Result<CallSource> open(const std::string& path);

  // Returns the recording; nullptr if this is a KFT log.
  const Recording* recording() const { return recording_ ? &*recording_ : nullptr; }
  double ticks_per_second() const;
  // Returns the clock (ticks) that is shown as time zero.
  std::uint64_t start() const { return analysis_ ? analysis_->start() : 0; }

  // Chooses the part that counts; call once, before read(). A KFT log always counts as a whole.
  void select(const Selection& selection);
  // Reads everything once. observer: gets the spans; may be nullptr. Stops without an error when
  // `progress` returns false. Error: the log cannot be read.
  Status read(SpanObserver* observer, const ReadProgress& progress);
  // Reads a recording once, and fills in `states`, which must be of analysis(). Precondition: this
  // is not a KFT log.
  Status read(TaskActivity& states, const ReadProgress& progress);

  // Valid from select() on, complete after read().
  const Profile& profile() const { return analysis_ ? analysis_->profile() : *profile_; }
  TypeNames types() const;
  // Returns the task's name as "find", or "pid 33" if its name is not known.
  std::string task(std::uint32_t task) const;
  std::uint32_t tasks() const;
  // Returns how long the selected part was recorded (ns); nothing if this is a KFT log. Call after
  // read().
  std::optional<std::uint64_t> duration() const;
  // Returns the recording's analysis; nullptr if this is a KFT log.
  const Analysis* analysis() const { return analysis_.get(); }
  // Returns a line for each thing that is lost, damaged or not usable; call after read().
  std::vector<std::string> damage() const;
  // Returns true if the recording is damaged, or lacks something that its recorder did not report
  // as lost.
  bool is_damaged() const;

 private:
  Status read_log(SpanObserver* observer);

  std::string name_;
  MappedFile log_;
  std::optional<Recording> recording_;
  std::unique_ptr<Analysis> analysis_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<KftNesting> calls_;
  KftCounts counts_;
};

}  // namespace fkt
