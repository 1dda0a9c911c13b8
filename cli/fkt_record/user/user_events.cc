// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/user_events.h"

#include <fcntl.h>

#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "lib/base/mapped_file.h"
#include "lib/base/os_error.h"
#include "lib/base/unnamed_file.h"
#include "lib/format/catalogue.h"
#include "lib/user/page_joiner.h"

namespace fkt::record {
namespace {

constexpr std::uint64_t kNearby = 10'000;  // 1/s: clocks of two CPUs differ by less than 100 us

// Beside the recording: that is where its user wants such amounts to be.
Result<UniqueFd> spool_beside(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  UniqueFd fd(::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  return unnamed_file();
}

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

UserEvents::UserEvents(const Plan& plan, Output spool)
    : plan_(plan), spool_(std::move(spool)), clock_(plan.clock), file_(spool_, plan.limit) {}

Result<std::unique_ptr<UserEvents>> UserEvents::prepare(const Plan& plan, const std::string& file) {
  Result<UniqueFd> fd = spool_beside(file);
  if (!fd) return fd.error();
  Result<Output> spool = Output::over("the file for user programs' events", std::move(*fd));
  if (!spool) return spool.error();
  std::unique_ptr<UserEvents> made(new UserEvents(plan, std::move(*spool)));
  Result<std::unique_ptr<Collector>> collector =
      Collector::open(plan.rules, made->clock_, made->file_);
  if (!collector) return collector.error();
  made->collector_ = std::move(*collector);
  return made;
}

std::string UserEvents::variable() const {
  return std::string(FKT_USER_VARIABLE) + '=' + collector_->socket_name();
}

Status UserEvents::join(Output& output, std::vector<fkt_index_entry>& index, fkt_status& status,
                        CpuStates& cpus) {
  if (file_.index().empty() || index.empty()) return Done{};
  const auto [recording, page_bytes] = std::pair(plan_.rules.recording, plan_.rules.page_bytes);
  const std::uint64_t before = std::uint64_t{page_bytes} * index.size();
  PageFile joined(output, 0, before);
  const WordTable table(Catalogue::builtin());
  PageJoiner joiner(
      {recording, page_bytes, status.stop_clock, clock_.read().khz * 1000 / kNearby}, table,
      [&](const fkt_page_header& header, ByteView page) { joined.add(header, page); });
  {
    const auto kernel = MappedPages::open(output, recording, page_bytes, index);
    if (!kernel) return kernel.error();
    const auto user = MappedPages::open(spool_, recording, page_bytes, file_.index());
    if (!user) return user.error();
    const Status done = joiner.join((*kernel)->pages(), (*user)->pages());
    if (!done) return done;
    if (joined.error() != 0) return os_failure(output.name(), joined.error());
  }
  const Status moved = output.drop_first_pages(before, joined.bytes());
  if (!moved) return moved;
  without_place_ = joiner.without_place();
  add(status, cpus, joiner, joined);
  index = joined.index();
  return Done{};
}

}  // namespace fkt::record
