// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/snapshot/snapshots.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/core.h>

#include "cli/base/messages.h"
#include "lib/instrument/trigger_compiler.h"
#include "lib/record/recorder_protocol.h"

namespace fkt::record {

Snapshots::Snapshots(SnapshotsPlan plan, SnapshotRules rules)
    : plan_(std::move(plan)), rules_(std::move(rules)) {
  prepare();
}

Snapshots::~Snapshots() {
  if (running_) running_->end_now();
}

// Makes the next head in advance: it takes long, and the rings would fill meanwhile.
void Snapshots::prepare() {
  preparing_.start([this] {
    // An error is ignored here: it occurs again when the head is needed, and is reported then.
    (void)static_cast<bool>(rules_.heads.prepare());
  });
}

Status Snapshots::start(Output output, std::chrono::nanoseconds after, std::string because) {
  preparing_.wait();
  running_ = FKT_TRY(
      Snapshot::start(rules_, {std::move(output), after, ++number_, left_, std::move(because)}));
  return Done{};
}

Status Snapshots::start_asked(const SnapshotAsk& ask, UniqueFd file) {
  if (is_over_) return Error{ErrorCode::io, "the recording has ended"};
  if (running_) return Error{ErrorCode::io, "the recorder is busy with another snapshot"};
  auto output = FKT_TRY(Output::over(ask.name, std::move(file)));
  return start(std::move(output), std::chrono::nanoseconds(ask.after_ns));
}

void Snapshots::asked(const SnapshotAsk& ask, UniqueFd file, UniqueFd connection) {
  const Status started = start_asked(ask, std::move(file));
  if (started) {
    asker_ = std::move(connection);
  } else {
    send_answer(connection.get(), {false, started.error().message});
  }
}

Status Snapshots::start_own(const std::string& because) {
  if (running_) return Error{ErrorCode::io, "busy with another snapshot"};
  OutputPlan own = plan_.output;
  own.replace = Replace::nothing;
  // Uses the next free name, so that snapshots of an earlier recording are kept.
  do {
    own.file = fmt::format("{}.snap-{}", plan_.output.file, ++own_);
  } while (::access(own.file.c_str(), F_OK) == 0);
  auto output = FKT_TRY(Output::open(own));
  if (!output.is_file()) return Error{ErrorCode::io, own.file + " is no regular file"};
  return start(std::move(output), plan_.after, because);
}

void Snapshots::asked_by_signal() {
  const Status started = start_own({});
  if (!started) cli::warn("SIGUSR1: no snapshot: " + started.error().message);
}

void Snapshots::condition_true() {
  const Result<std::optional<fkt_fired>> fired = rules_.device.fired();
  if (!fired) return cli::warn("the condition of a snapshot: " + fired.error().message);
  // Events before the end of the previous snapshot are in that snapshot.
  if (!*fired || (*fired)->clock <= end_clock_) return;
  by_condition_++;
  const std::uint32_t hit = (*fired)->instrument;
  const std::string text = hit == 0 ? std::string() : plan_.text_of(hit - 1);
  const std::string what = hit == 0 ? "--snapshot-when" : text;
  const Status started = start_own(fired_text(**fired, rules_.ticks_per_second, text));
  if (!started) cli::warn(what + ": no snapshot: " + started.error().message);
  if (by_condition_ == plan_.most_by_condition) {
    cli::warn(fmt::format("{}: no further snapshot after this one (--snapshots {})", what,
                          plan_.most_by_condition));
  }
}

void Snapshots::finished() {
  const Result<std::string> written = running_->join();
  const RecorderAnswer answer{static_cast<bool>(written),
                              written ? *written : written.error().message};
  if (asker_) {
    send_answer(asker_.get(), answer);
    asker_.reset();
  } else if (!answer.done || !plan_.quiet) {
    cli::warn(answer.line);
  }
  for (const auto& [number, cpu] : running_->taken()) {
    PartCpu& sum = left_[number];
    sum.events += cpu.events;
    sum.pages += cpu.pages;
    sum.lost = cpu.lost;
  }
  end_clock_ = std::max(end_clock_, running_->end_clock());
  running_.reset();
  prepare();
}

void Snapshots::asker_left() {
  asker_.reset();
  running_->end_now();
}

void Snapshots::end() {
  is_over_ = true;
  if (running_) running_->end_now();
}

void Snapshots::join() {
  if (running_) finished();
}

}  // namespace fkt::record
