// SPDX-License-Identifier: GPL-2.0-only
// The part of class Recording that sets up the destination of pages and its limits.
#include "cli/fkt_record/recording.h"

#include <unistd.h>

#include <algorithm>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_record/output/tail_reserve.h"
#include "cli/fkt_record/sections/part_sections.h"

namespace fkt::record {
namespace {

// Upper bound of -s in bytes: file offsets are signed, and head and tail need space too.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

}  // namespace

Status Recording::make_sink() {
  FileSinkRules rules;
  rules.part.recording = recording_;
  rules.part.page_bytes = page_bytes_;
  rules.part.reserve = tail_reserve(cpus_);
  rules.part.reserve_per_page = kTailBytesPerPage;
  rules.level = request_->level;
  rules.ring_bytes = ring_bytes();
  if (request_->rotate != 0) {
    const std::uint64_t least = head_.size() + rules.part.reserve;
    if (request_->rotate < least) {
      return cli::usage("--rotate: a file needs more than the " + cli::bytes_text(least) +
                        " that stand before and after its pages");
    }
    rules.part.file_limit = request_->rotate - rules.part.reserve;
    make_rotation(rules.part);
  } else {
    const Result<std::uint64_t> limit = limit_bytes();
    if (!limit) return limit.error();
    rules.part.limit = *limit;
  }
  Result<std::unique_ptr<FileSink>> sink = FileSink::make(output_, rules, rotation_.get());
  if (!sink) return sink.error();
  sink_ = std::move(*sink);
  if (is_flight()) {
    snapshot_rules_ = std::make_unique<SnapshotRules>(SnapshotRules{
        device_, request_->clock, rules, PartHeads(head_, task_list_, PartHeads::Kind::snapshot)});
  }
  return Done{};
}

void Recording::make_rotation(const PartRules& rules) {
  part_heads_ = std::make_shared<PartHeads>(head_, task_list_);
  Rotation::Makers makers{
      // An error is ignored here: it occurs again when the head is made, and is reported then.
      [heads = part_heads_] { (void)static_cast<bool>(heads->prepare()); },
      [heads = part_heads_](unsigned number, const PartCpus& before) {
        return heads->head(number, before);
      },
      [heads = part_heads_, &device = device_, clock = request_->clock](const PartFile& part) {
        const std::string tasks = heads->take_tasks(part.number());
        heads->note_tasks();  // of the file that has just begun
        return part_tail(device, clock, part, tasks);
      }};
  rotation_ = std::make_unique<Rotation>(RotationPlan{output_plan_, request_->keep, rules}, output_,
                                         std::move(makers));
}

// Limit of the pages in bytes; 0: none is known in advance, the output ends when a write fails.
Result<std::uint64_t> Recording::limit_bytes() const {
  if (request_->size) return std::min(*request_->size, kMostBytes);
  if (!has_room()) return std::uint64_t{0};
  const auto room = output_.room(tail_reserve(cpus_), kTailBytesPerPage, page_bytes_);
  if (!room) return room.error();
  // Checked at the start, because after a crash it would be too late to find out that the disk is
  // full.
  if (is_flight() && *room < ring_bytes()) {
    return Error{ErrorCode::io, output_.name() + ": no space for the " +
                                    cli::bytes_text(ring_bytes()) + " that the recorder keeps"};
  }
  return *room;
}

std::uint64_t Recording::ring_bytes() const {
  const auto cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  return (std::uint64_t{4096} << request_->pow_pages) * cpus;
}

std::string Recording::without_snapshots() const {
  if (!is_flight()) return "this is no flight recorder (see --flight)";
  if (!has_room()) return output_.name() + " is no file that snapshots can stand beside";
  if (engine_ && *engine_ != FKT_ENGINE_LEND) {
    return "engine " + std::string(engine_name(*engine_)) + " lets no page go before the end";
  }
  return "nothing is being recorded";
}

PageSink* Recording::sink() const {
  if (remote_) return remote_.get();
  return sink_.get();
}

}  // namespace fkt::record
