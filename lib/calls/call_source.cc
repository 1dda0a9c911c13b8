// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/call_source.h"

#include <algorithm>

#include <fmt/core.h>

#include "lib/base/text.h"
#include "lib/base/time_format.h"
#include "lib/format/file_header.h"
#include "lib/read/damage.h"
#include "lib/read/event_merge.h"
#include "lib/scan/scan.h"

namespace fkt {
namespace {

constexpr std::uint64_t kProgressEvents = 1 << 18;

}  // namespace

Result<CallSource> CallSource::open(const std::string& path) {
  CallSource source;
  source.name_ = input_name(path);
  Result<MappedFile> file = MappedFile::open(path, [](ByteView head) {
    return looks_like_kft(as_text(head)) ? Status(Done{}) : check_file_magic(head);
  });
  if (!file) return Error{file.error().code, source.name_ + ": " + file.error().message};
  if (looks_like_kft(as_text(subview(file->bytes(), 0, kInputHead)))) {
    source.log_ = std::move(*file);
    return source;
  }
  source.recording_ = FKT_TRY(Recording::from_file(std::move(*file), source.name_));
  return source;
}

double CallSource::ticks_per_second() const {
  return recording_ ? recording_->info().clocks.ticks_per_second() : 1e6;
}

std::optional<std::uint64_t> CallSource::duration() const {
  if (!analysis_) return {};
  const std::uint64_t begin = analysis_->begin();
  const std::uint64_t ticks = analysis_->ticks_in(begin, std::max(begin, analysis_->end()), true);
  return TimeFormat(TimeUnit::ns, ticks_per_second()).ns(ticks);
}

void CallSource::select(const Selection& selection) {
  if (recording_) {
    analysis_ = std::make_unique<Analysis>(recording_->info(), selection);
    analysis_->keep_histograms();
  } else {
    profile_ = std::make_unique<Profile>();
    profile_->keep_histograms();
  }
}

Status CallSource::read(SpanObserver* observer, const ReadProgress& progress) {
  if (!recording_) return read_log(observer);
  if (observer != nullptr) analysis_->watch(*observer);
  const std::uint64_t total = events_of(*recording_);
  std::uint64_t done = 0;
  const std::optional<std::uint64_t> to = analysis_->selection().to;
  if (observer == nullptr) {
    scan(*recording_, *analysis_,
         {.progress = [&](std::uint64_t read) { return progress(read, total); }});
    analysis_->finish(!to, recording_end(*recording_));
    return Done{};
  }
  for (const Event& event : recording_->events({.from = {}, .to = to, .cpu = {}})) {
    analysis_->add(event);
    if (++done % kProgressEvents == 0 && !progress(done, total)) break;
  }
  analysis_->finish(!to, recording_end(*recording_));
  return Done{};
}

Status CallSource::read(TaskActivity& states, const ReadProgress& progress) {
  const std::uint64_t total = events_of(*recording_);
  analysis_->watch(states);
  scan(
      *recording_, *analysis_,
      {.progress = [&](std::uint64_t read) { return progress(read, total); }, .activity = &states});
  analysis_->finish(!analysis_->selection().to, recording_end(*recording_));
  states.finish(analysis_->end());
  return Done{};
}

Status CallSource::read_log(SpanObserver* observer) {
  calls_ = std::make_unique<KftNesting>(*profile_, observer);
  const auto add = [this](const KftCall& call) { calls_->add(call); };
  counts_ = FKT_TRY(read_kft(as_text(log_.bytes()), name_, add));
  calls_->finish();
  return Done{};
}

TypeNames CallSource::types() const {
  if (analysis_) {
    const SpanTypes& types = analysis_->types();
    return {types.size(), [&types](TypeIndex type) { return std::string_view(types[type].name); },
            [&types](TypeIndex type) { return on_cpu(types[type].kind); }};
  }
  return {calls_ ? calls_->types() : 0, [this](TypeIndex type) { return calls_->name(type); },
          [](TypeIndex) { return false; }};
}

std::string CallSource::task(std::uint32_t task) const {
  if (!analysis_) return fmt::format("pid {}", calls_->pid(task));
  const TaskInfo& info = analysis_->tasks()[task];
  if (!info.idle && info.comm.empty()) return fmt::format("pid {}", info.tid);
  return std::string(analysis_->tasks().name(task));
}

std::uint32_t CallSource::tasks() const {
  return analysis_ ? analysis_->tasks().size() : calls_->tasks();
}

bool CallSource::is_damaged() const {
  return recording_ && !damage_of(*recording_).empty();
}

std::vector<std::string> CallSource::damage() const {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) { lines.push_back(name_ + ": " + text); };
  if (recording_) {
    if (analysis_->lost() > 0) add(counted(analysis_->lost(), "event") + " lost");
    if (is_damaged()) add(damage_of(*recording_));
    return lines;
  }
  if (counts_.other_lines > 0) {
    add(fmt::format("{} left out that are no calls, the first is line {}",
                    counted(counts_.other_lines, "line"), counts_.first_other));
  }
  if (calls_ && calls_->backwards() > 0) {
    add(counted(calls_->backwards(), "call") +
        " began before the one above: calls open there have no duration");
  }
  return lines;
}

}  // namespace fkt
