// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/early_part.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/base/mapped_file.h"
#include "lib/base/unnamed_file.h"
#include "lib/slice/slice_writer.h"

namespace fkt::cli {

std::shared_ptr<const Model> EarlyPart::find(std::uint64_t from, std::uint64_t to,
                                             const Unwanted& unwanted) {
  Interval part{from, to};
  if (!is_short(part)) return nullptr;
  const std::lock_guard lock(mutex_);
  if (closed_ || (unwanted && unwanted())) return nullptr;
  if (part_ != nullptr && at_.from <= from && to <= at_.to) return part_;
  // Wider than asked for, so that a small move of the view needs no other part.
  const std::uint64_t more = (to - from) / 2;
  const Interval wider{from - std::min(more, from - whole_.timeline().begin()),
                       std::min(to + more, whole_.timeline().end())};
  if (is_short(wider)) part = wider;
  part_ = cut(part);
  at_ = part;
  return part_;
}

void EarlyPart::close() {
  if (closed_.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  part_.reset();
  cache_.reset();
  recording_.reset();
}

std::shared_ptr<const Model> EarlyPart::cut(const Interval& part) {
  if (!std::exchange(opened_, true) && whole_.file() != "-") {
    Result<Recording> recording = Recording::open(whole_.file());
    if (recording) recording_ = std::make_unique<const Recording>(std::move(*recording));
    if (recording) cache_ = std::make_unique<CheckpointCache>(*recording_, "");
  }
  if (recording_ == nullptr) return nullptr;
  const std::vector<Interval> stretches = stretches_in(*recording_, {part});
  const Result<UniqueFd> file = unnamed_file();
  if (stretches.size() != 1 || !file) return nullptr;
  const auto written =
      write_slice(*recording_, stretches, file->get(), "a part", {.cache = cache_.get()});
  if (!written) return nullptr;
  // The mapping keeps the file when its descriptor is closed.
  Result<MappedFile> mapped = MappedFile::open("/proc/self/fd/" + std::to_string(file->get()));
  if (!mapped) return nullptr;
  Result<Recording> slice = Recording::from_file(std::move(*mapped), whole_.file());
  if (!slice) return nullptr;
  const auto model = std::make_shared<Model>(std::move(*slice), whole_.file());
  model->start();
  model->wait();
  return model;
}

}  // namespace fkt::cli
