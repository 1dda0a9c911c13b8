// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/model.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "lib/slice/read_states.h"

namespace fkt::cli {
namespace {

constexpr int kAtLeisure = 19;  // nice value of the lowest priority

}  // namespace

Model::Model(Trace trace, std::string file, StatesPlace states)
    : trace_(std::move(trace)),
      file_(std::move(file)),
      states_(std::move(states)),
      timeline_(trace_),
      levels_(timeline_.begin(), timeline_.end(), events_about(timeline_.begin(), timeline_.end()),
              timeline_.tasks()) {}

Model::~Model() {
  density_pass_.stop = true;
  timeline_pass_.stop = true;
}

void Model::start() {
  reader_ = std::jthread([this] { read(); });
}

void Model::wait() {
  if (reader_.joinable()) reader_.join();
}

void Model::read() {
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  density_ = std::make_unique<Density>(trace_, threads, density_pass_);
  density_ready_ = true;
  timeline_.read(timeline_pass_, &levels_);
  levels_.finish();
  integrity_ = trace_.integrity();
  if (timeline_pass_.stop) return;
  ready_ = true;
  read_states();
}

// Opens the recording once more, because other threads use trace_ meanwhile.
void Model::read_states() const {
  if (states_.folder.empty() || file_ == "-") return;
  const Result<Trace> trace = Trace::open(file_);
  if (!trace) return;
  KnownStates known(*trace, states_.folder, states_.apart);
  const auto unknown = [&](std::uint64_t moment) { return !known.knows(moment); };
  if (std::ranges::none_of(known.moments(), unknown)) return;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kAtLeisure);
  const std::uint64_t last = known.moments().back();
  fkt::read_states(*trace, {&last, 1}, &known,
                   [this](std::uint64_t) { return idle_work_.wait(timeline_pass_.stop); });
  // A failure is ignored: the first slice takes longer, nothing else.
  static_cast<void>(known.keep());
}

double Model::progress() const {
  if (ready_) return 1;
  const auto part = [](const PassControl& pass) {
    const auto total = static_cast<double>(pass.total);
    return total > 0 ? std::min(1.0, static_cast<double>(pass.done) / total) : 0;
  };
  return (part(density_pass_) + part(timeline_pass_)) / 2;
}

const std::vector<Gap>& Model::gaps() const {
  static const std::vector<Gap> kNone;
  return density_ready_ ? density_->gaps() : kNone;
}

std::uint64_t Model::events_about(std::uint64_t from, std::uint64_t to) const {
  std::uint64_t events = 0;
  for (const PageRef& page : trace_.pages()) {
    if (page.end_clock >= from && page.first_clock < to) events += page.events;
  }
  return events;
}

}  // namespace fkt::cli
