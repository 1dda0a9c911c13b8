// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/user_events.h"

#include <utility>

#include <fmt/core.h>

#include "lib/base/mapped_file.h"
#include "lib/base/os_error.h"
#include "lib/format/catalogue.h"
#include "lib/read/programs_file.h"
#include "lib/user/page_joiner.h"

namespace fkt::record {
namespace {

constexpr std::uint64_t kOfPrograms = 1ULL << FKT_L_USER;
constexpr std::uint64_t kNearby = 10'000;  // 1/s: clocks of two CPUs differ by less than 100 us

// The pages of a file that is open.
class MappedPages {
 public:
  static Result<std::unique_ptr<MappedPages>> open(const Output& output, std::uint64_t recording,
                                                   std::uint32_t page_bytes,
                                                   const std::vector<fkt_index_entry>& index) {
    Result<MappedFile> mapped = MappedFile::open(fmt::format("/proc/self/fd/{}", output.fd()));
    if (!mapped) return Error{mapped.error().code, output.name() + ": " + mapped.error().message};
    std::unique_ptr<MappedPages> made(
        new MappedPages(std::move(*mapped), output.pages_offset(), page_bytes, recording));
    std::uint64_t offset = output.pages_offset();
    for (const fkt_index_entry& entry : index) {
      made->refs_.push_back(
          {offset, entry.first_clock, entry.end_clock, entry.seq, entry.cpu, entry.events});
      offset += page_bytes;
    }
    return made;
  }
  PageJoiner::Pages pages() const { return {source_, refs_}; }

 private:
  MappedPages(MappedFile file, std::uint64_t begin, std::uint32_t page_bytes,
              std::uint64_t recording)
      : file_(std::move(file)), source_(file_.bytes(), begin, page_bytes, recording) {}

  const MappedFile file_;
  const PageSource source_;
  std::vector<PageRef> refs_;
};

void add(fkt_status& status, CpuStates& cpus, const PageJoiner& joiner, const PageFile& pages) {
  for (const auto& [number, added] : joiner.added()) {
    fkt_cpu_status& cpu = cpus[number];
    cpu.cpu = number;
    cpu.events += added.events;
    cpu.lost += added.lost;
    cpu.pages_written = added.pages;
    status.events += added.events;
    status.lost += added.lost;
  }
  status.pages_written = pages.index().size();
  status.bytes_written = pages.bytes();
}

}  // namespace

Result<std::unique_ptr<UserEvents>> UserEvents::prepare(CollectedFile::Plan plan) {
  // Beside the recording: that is where its user wants such amounts to be.
  plan.output = plan.output.with_file(programs_file(plan.output.file));
  auto file = FKT_TRY(CollectedFile::prepare(plan));
  return std::unique_ptr<UserEvents>(new UserEvents(std::move(file)));
}

Status UserEvents::write_head(const RecordingFacts& asked, const TaskList& tasks,
                              const std::optional<User>& user, pid_t workload) {
  RecordingFacts of_programs = asked;
  of_programs.mask = kOfPrograms;
  return file_->write_head(of_programs, tasks, user, workload);
}

Status UserEvents::start(std::uint64_t start_clock) {
  return file_->start(clocks_when(file_->clocks(), start_clock));
}

Status UserEvents::join(Output& output, std::vector<fkt_index_entry>& index, fkt_status& status,
                        CpuStates& cpus) {
  const std::uint64_t before = std::uint64_t{file_->rules().page_bytes} * index.size();
  const Status joined = join_pages(output, index, status, cpus);
  if (!joined) {
    // Before the events' own file is finished: what was joined has taken the room for its end.
    const Status dropped = output.drop_behind(before);
    return keep(dropped ? joined.error() : dropped.error(), status.stop_clock);
  }
  file_->discard();
  return Done{};
}

Status UserEvents::join_pages(Output& output, std::vector<fkt_index_entry>& index,
                              fkt_status& status, CpuStates& cpus) {
  if (file_->index().empty() || index.empty()) return Done{};
  const auto [recording, page_bytes] =
      std::pair(file_->rules().recording, file_->rules().page_bytes);
  const std::uint64_t before = std::uint64_t{page_bytes} * index.size();
  PageFile joined(output, 0, before);
  const WordTable table(Catalogue::builtin());
  PageJoiner joiner(
      {recording, page_bytes, status.stop_clock, file_->clocks().khz * 1000 / kNearby}, table,
      [&](const fkt_page_header& header, ByteView page) { joined.add(header, page); });
  {
    const auto kernel = MappedPages::open(output, recording, page_bytes, index);
    if (!kernel) return kernel.error();
    const auto user = MappedPages::open(file_->output(), recording, page_bytes, file_->index());
    if (!user) return user.error();
    FKT_TRY(joiner.join((*kernel)->pages(), (*user)->pages()));
    if (joined.error() != 0) return os_failure(output.name(), joined.error());
  }
  FKT_TRY(output.drop_first_pages(before, joined.bytes()));
  without_place_ = joiner.without_place();
  add(status, cpus, joiner, joined);
  index = joined.index();
  return Done{};
}

// Makes the file a recording of its own, and returns the error that says so.
Status UserEvents::keep(const Error& reason, std::uint64_t stop_clock) {
  const Status written =
      file_->finish({file_->clocks(), file_->status(stop_clock), kOfPrograms, std::nullopt, {}});
  return Error{reason.code, reason.message + "; they are in " + file_->output().name() +
                                (written ? "" : ", which has no end: " + written.error().message)};
}

}  // namespace fkt::record
