// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/model.h"

#include <malloc.h>

#include <algorithm>

#include "lib/base/thread_nice.h"
#include "lib/read/page_decoder.h"
#include "lib/slice/checkpoints.h"
#include "lib/timeline/slice_relay.h"

namespace fkt::cli {
namespace {

constexpr int kAtLeisure = 19;  // nice value of the lowest priority
// How much longer the pass over the timeline takes than each of the others.
constexpr double kTimelineWeight = 6;

// Adds up the states of tasks on the way to the lanes.
class TaskSummer {
 public:
  TaskSummer(WindowStats& sums, LanePyramid& lanes) : sums_(sums), lanes_(lanes) {}
  Buckets buckets() const { return lanes_.buckets(); }
  void add(const PackedSlice& slice) {
    if (slice.kind == SliceKind::state) sums_.add_state(slice);
    lanes_.add(slice);
  }

 private:
  WindowStats& sums_;
  LanePyramid& lanes_;
};

}  // namespace

Model::Model(Recording recording, std::string file, CacheRules cache)
    : recording_(std::move(recording)),
      index_(recording_.pages()),
      file_(std::move(file)),
      cache_rules_(std::move(cache)),
      timeline_(recording_),
      lane_pyramid_(timeline_.begin(), timeline_.end(),
                    events_about(timeline_.begin(), timeline_.end()), timeline_.longest_burst(),
                    timeline_.tasks()),
      early_stats_(timeline_),
      task_sums_(timeline_.begin(), timeline_.end(), timeline_.tasks()) {}

Model::~Model() {
  density_pass_.stop = true;
  scan_pass_.stop = true;
  timeline_pass_.stop = true;
}

void Model::start() {
  reader_ = std::jthread([this] { read(); });
}

void Model::wait() {
  if (reader_.joinable()) reader_.join();
}

void Model::read() {
  recording_.split();
  // Where pages are split, that is most of the work of counting events: then the overview stays
  // coarse until the pass over the timeline has read the pages.
  const bool splits = recording_.splits_pages();
  if (!splits) read_density();
  read_statistics();
  TaskSummer summer(task_sums_, lane_pyramid_);
  SliceRelay relay(summer);
  if (splits) {
    density_ = std::make_unique<Density>(recording_);
    const auto count = [this](std::uint32_t number, const Result<Page>& page) {
      density_->add(number, page);
    };
    timeline_.read(timeline_pass_, &relay, count);
    if (!timeline_pass_.stop) finish_density();
  } else {
    timeline_.read(timeline_pass_, &relay);
  }
  relay.finish();
  lane_pyramid_.finish();
  integrity_ = recording_.integrity();
  recording_.forget();
  if (timeline_pass_.stop) return;
  ready_ = true;
  fill_checkpoint_cache();
}

void Model::read_density() {
  density_ = std::make_unique<Density>(recording_);
  finish_density();
  recording_.forget();
}

void Model::finish_density() {
  density_->finish(std::max(1U, std::thread::hardware_concurrency()), density_pass_);
  density_ready_ = true;
}

void Model::read_statistics() {
  early_stats_.read(scan_pass_);
  scanned_ = !scan_pass_.stop;
  recording_.forget();
  malloc_trim(0);  // the sums of each thread, for every name, are in the heap of that thread
}

// Opens the recording again, because other threads use trace_ meanwhile.
void Model::fill_checkpoint_cache() const {
  if (cache_rules_.folder.empty() || file_ == "-") return;
  set_thread_nice(kAtLeisure);  // opening a recording with calls reads all of it
  const Result<Recording> recording = Recording::open(file_);
  if (!recording) return;
  CheckpointCache cache(*recording, cache_rules_.folder, cache_rules_.apart);
  const auto unknown = [&](std::uint64_t moment) { return !cache.knows(moment); };
  if (std::ranges::none_of(cache.moments(), unknown)) return;
  const std::uint64_t last = cache.moments().back();
  fkt::read_checkpoints(*recording, {&last, 1}, &cache,
                        [this](std::uint64_t) { return idle_work_.wait(timeline_pass_.stop); });
  // A failure is ignored: the first slice takes longer, nothing else.
  static_cast<void>(cache.keep());
}

double Model::progress() const {
  if (ready_) return 1;
  const auto part = [](const PassControl& pass) {
    const auto total = static_cast<double>(pass.total);
    return total > 0 ? std::min(1.0, static_cast<double>(pass.done) / total) : 0;
  };
  const double sum = part(scan_pass_) + kTimelineWeight * part(timeline_pass_);
  if (recording_.splits_pages()) return sum / (1 + kTimelineWeight);
  return (part(density_pass_) + sum) / (2 + kTimelineWeight);
}

const std::vector<Gap>& Model::gaps() const {
  static const std::vector<Gap> kNone;
  return density_ready_ ? density_->gaps() : kNone;
}

std::uint64_t Model::events_about(std::uint64_t from, std::uint64_t to) const {
  std::uint64_t events = 0;
  for (const PageRef& page : index_) {
    if (page.end_clock >= from && page.first_clock < to) events += page.events;
  }
  return events;
}

}  // namespace fkt::cli
