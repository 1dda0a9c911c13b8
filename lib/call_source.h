// SPDX-License-Identifier: GPL-2.0-only
// CallSource: calls from an FKT recording or a KFT text log, for tools that take either.
//
//   fkt::Result<fkt::CallSource> source = fkt::CallSource::open(path);
//   if (!source) return fail(source.error());
//   source->select({});
//   if (auto status = source->read(&sink, progress); !status) return fail(status.error());
//   rows = fkt::function_rows(source->profile(), source->types());
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lib/analysis.h"
#include "lib/function_table.h"
#include "lib/kft_calls.h"
#include "lib/mapped_file.h"

namespace fkt {

// Events besides calls: whoever wants those of a recording too.
using EventSink = std::function<void(const Event&, const Analysis::Place&)>;
// Called now and then with how much of how much is done; false: read no further.
using ReadProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

class CallSource {
 public:
  // path "-": standard input.
  static Result<CallSource> open(const std::string& path);

  // The recording; nullptr: a KFT log.
  const Trace* trace() const { return trace_ ? &*trace_ : nullptr; }
  double ticks_per_second() const;
  // The zero of all times that are shown (ticks).
  std::uint64_t start() const { return analysis_ ? analysis_->start() : 0; }

  // Which part counts; once, before read(). A KFT log is always taken whole.
  void select(const View& view);
  // The one pass. `sink` may be null.
  Status read(CallSink* sink, const EventSink& events, const ReadProgress& progress);

  // Valid from select() on, complete after read().
  const Profile& profile() const { return analysis_ ? analysis_->profile() : *profile_; }
  TypeNames types() const;
  // "find", or "pid 33" where no name is known.
  std::string task(std::uint32_t task) const;
  std::uint32_t tasks() const;
  // The recording's analysis; nullptr: a KFT log.
  const Analysis* analysis() const { return analysis_.get(); }
  // What could not be used, a line each; after read().
  std::vector<std::string> damage() const;
  // Is the recording damaged, or something missing from it that its recorder did not lose?
  bool is_damaged() const;

 private:
  Status read_log(CallSink* sink);

  std::string name_;
  MappedFile log_;
  std::optional<Trace> trace_;
  std::unique_ptr<Analysis> analysis_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<KftCalls> calls_;
  KftCounts counts_;
};

}  // namespace fkt
