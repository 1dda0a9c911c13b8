// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/model.h"

#include <algorithm>

namespace fkt::cli {

Model::Model(Trace trace, std::string file)
    : trace_(std::move(trace)),
      file_(std::move(file)),
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
  if (!timeline_pass_.stop) ready_ = true;
}

double Model::progress() const {
  if (ready_) return 1;
  const auto part = [](const PassControl& pass) {
    const auto total = static_cast<double>(pass.total);
    return total > 0 ? std::min(1.0, static_cast<double>(pass.done) / total) : 0;
  };
  return (part(density_pass_) + part(timeline_pass_)) / 2;
}

DensityCells Model::density(const Scale& scale) const {
  return density_ready_ ? density_->cells(scale) : density_from_index(trace_, scale);
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
