// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sink/file_sink.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/core.h>

#include "lib/base/os_error.h"

namespace fkt::record {
namespace {

constexpr std::size_t kWritesAtOnce = 8;
constexpr std::size_t kPagesPerWrite = 16;
constexpr unsigned kMostThreads = 4;
// A group holds at most this fraction of all rings, ...
constexpr std::uint64_t kRingShare = 8;  // 1/8
// ... and an incomplete group waits for more pages at most this long.
constexpr std::uint64_t kMaxDelay = 200'000'000;  // ns

unsigned packing_threads() {
  const unsigned cpus = std::thread::hardware_concurrency();
  return std::clamp(cpus > 1 ? cpus - 1 : 1U, 1U, kMostThreads);
}

// Removes the first `bytes` bytes from the pieces.
void advance(std::vector<iovec>& pieces, std::uint64_t bytes) {
  auto piece = pieces.begin();
  while (piece != pieces.end() && bytes >= piece->iov_len) bytes -= (piece++)->iov_len;
  pieces.erase(pieces.begin(), piece);
  if (bytes == 0 || pieces.empty()) return;
  pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + bytes;
  pieces.front().iov_len -= bytes;
}

iovec piece_of(ByteView bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

fkt_page_header header_of(const LentPage& page) {
  fkt_page_header header;
  std::memcpy(&header, page.bytes.data(), sizeof header);
  return header;
}

}  // namespace

Result<std::unique_ptr<FileSink>> FileSink::make(Output& output, const FileSinkRules& rules,
                                                 PartSource* parts) {
  auto writer = FKT_TRY(AsyncWriter::make(kWritesAtOnce, rules.use));
  std::unique_ptr<PagePacker> packer;
  if (rules.level) {
    const std::uint64_t most = std::min<std::uint64_t>(rules.ring_bytes / kRingShare, kGroupBytes);
    auto started =
        FKT_TRY(PagePacker::start(*rules.level, packing_threads(), rules.part.page_bytes, most));
    packer = std::move(started);
  }
  auto timer = FKT_TRY(Timer::make(0, 0));
  return std::unique_ptr<FileSink>(
      new FileSink(output, rules, parts, std::move(writer), std::move(packer), std::move(timer)));
}

std::string FileSink::how() const {
  std::string text =
      writer_.refusal().empty() ? "io_uring" : "pwrite (io_uring: " + writer_.refusal() + ")";
  if (!parts_.empty() && !parts_.back()->direct()) text += " through the page cache";
  if (packer_) text += fmt::format(", zstd level {}", *rules_.level);
  return text;
}

Status FileSink::write_head(const std::string& head) {
  FKT_TRY(output_->write_head(head));
  auto part = FKT_TRY(PartFile::open(*output_, rules_.part));
  parts_.push_back(std::move(part));
  return Done{};
}

std::size_t FileSink::room() const {
  if (ended_) return 0;
  const std::size_t busy = units_.size() + (packer_ ? packer_->waiting() : 0);
  if (busy >= kWritesAtOnce) return 0;
  const std::size_t each = packer_ ? packer_->pages_per_group() : kPagesPerWrite;
  return (kWritesAtOnce - busy) * each - std::min(waiting_.size(), each - 1);
}

SinkStatus FileSink::put(std::span<const LentPage> pages) {
  if (!packer_) {
    put_chunks(pages);
    return {};
  }
  for (const LentPage& page : pages) {
    if (waiting_.empty()) timer_.set(kMaxDelay);
    waiting_.push_back(page);
    if (waiting_.size() == packer_->pages_per_group()) put_group();
  }
  return {};
}

void FileSink::put_chunks(std::span<const LentPage> pages) {
  while (!pages.empty() && !ended_) {
    Unit unit;
    const auto chunk = pages.first(std::min(pages.size(), kPagesPerWrite));
    unit.pages.assign(chunk.begin(), chunk.end());
    for (const LentPage& page : chunk) unit.pieces.push_back(piece_of(page.bytes));
    unit.bytes = chunk.size() * rules_.part.page_bytes;
    pages = pages.subspan(chunk.size());
    place(std::move(unit));
  }
}

void FileSink::put_group() {
  packer_->put(waiting_);
  waiting_.clear();
  timer_.set(0);
}

void FileSink::end() {
  if (!waiting_.empty()) put_group();
}

void FileSink::wait_for(std::vector<pollfd>& fds) const {
  fds.push_back({writer_.fd(), POLLIN, 0});
  if (!packer_) return;
  fds.push_back({packer_->fd(), POLLIN, 0});
  fds.push_back({timer_.fd(), POLLIN, 0});
}

SinkStatus FileSink::move(std::vector<std::uint32_t>& done) {
  if (packer_ && !waiting_.empty() && timer_.expired()) put_group();
  if (packer_) place_groups(false);
  take_answers(false);
  retire(done);
  if (ended_) settle(done);
  return ended_;
}

// Assigns file offsets to compressed groups and starts their writes, in order.
void FileSink::place_groups(bool wait) {
  while (auto packed = packer_->take(wait)) {
    if (ended_) continue;
    if (!packed->fault.empty()) {
      ends(FKT_STOP_ERROR, EIO, packed->fault);
      continue;
    }
    Unit unit;
    unit.pages = std::move(packed->pages);
    unit.bytes = packed->bytes;
    unit.group.emplace(std::move(packed->buffer));
    unit.pieces.push_back(piece_of(unit.group->bytes().first(unit.bytes)));
    place(std::move(unit));
  }
}

void FileSink::place(Unit unit) {
  if (!find_place(unit)) return;
  if (unit.group) {
    const std::uint64_t first = unit.part->claimed_pages() - unit.pages.size();
    place_group(unit.group->bytes(), {rules_.part.recording, first});
  }
  unit.tag = next_tag_++;
  units_.push_back(std::make_unique<Unit>(std::move(unit)));
  write(*units_.back());
}

// Returns false when the output has no more room, or an error ended it.
bool FileSink::find_place(Unit& unit) {
  if (unit.bytes > parts_.back()->room() && parts_.back()->claimed_pages() > 0 && source_) {
    if (!next_part()) return false;
  }
  const std::uint64_t room = parts_.back()->room();
  // A single file ends at its limit. A rotated file gets at least one write, whatever its limit.
  if (unit.bytes > room && !source_) {
    ends(FKT_STOP_LIMIT, 0);
    const std::size_t fit = unit.group ? 0 : room / rules_.part.page_bytes;
    if (fit == 0) return false;
    unit.pages.resize(fit);
    unit.pieces.resize(fit);
    unit.bytes = fit * rules_.part.page_bytes;
  }
  unit.part = parts_.back().get();
  const int error = unit.part->claim(unit.bytes, unit.pages.size(), unit.offset);
  if (error != 0) ends(is_full(error) ? FKT_STOP_FULL : FKT_STOP_ERROR, error);
  for (const LentPage& page : unit.pages) unit.part->claimed(header_of(page));
  return error == 0;
}

bool FileSink::next_part() {
  Result<std::unique_ptr<PartFile>> part = source_->next(*parts_.back());
  if (!part) {
    ends(FKT_STOP_ERROR, EIO, part.error().message);
    return false;
  }
  parts_.push_back(std::move(*part));
  return true;
}

void FileSink::write(Unit& unit) {
  writer_.write(unit.tag, unit.part->fd(), unit.pieces, unit.offset + unit.written);
}

void FileSink::take_answers(bool wait) {
  for (const AsyncWriter::Answer& answer : writer_.answers(wait)) {
    const auto unit = std::ranges::find(units_, answer.tag, [](const auto& u) { return u->tag; });
    if (unit != units_.end()) answered(**unit, answer.result);
  }
}

void FileSink::answered(Unit& unit, std::int64_t result) {
  if (result > 0) {
    unit.written += static_cast<std::uint64_t>(result);
    advance(unit.pieces, static_cast<std::uint64_t>(result));
  }
  unit.finished = unit.written >= unit.bytes;
  if (unit.finished) return;
  // After a short write, writing the rest returns the reason.
  if (result > 0 || result == -EINTR || result == -EAGAIN) return write(unit);
  unit.error = result < 0 ? static_cast<int>(-result) : EIO;
  unit.finished = true;
}

void FileSink::retire(std::vector<std::uint32_t>& done) {
  while (!failed_ && !units_.empty() && units_.front()->finished) {
    retire_unit(*units_.front(), done);
    failed_ = units_.front()->error != 0;
    units_.pop_front();
    finish_parts();
  }
}

// After a write that failed in its middle, the pages written completely count as in the file.
void FileSink::retire_unit(Unit& unit, std::vector<std::uint32_t>& done) {
  std::size_t good = unit.pages.size();
  if (unit.error != 0) {
    good = unit.group ? 0 : unit.written / rules_.part.page_bytes;
    ends(is_full(unit.error) ? FKT_STOP_FULL : FKT_STOP_ERROR, unit.error);
  }
  if (good == 0) return;
  for (std::size_t i = 0; i < good; i++) {
    unit.part->add(header_of(unit.pages[i]));
    done.push_back(unit.pages[i].number);
  }
  const std::uint64_t bytes = unit.group ? unit.bytes : good * rules_.part.page_bytes;
  if (unit.group) {
    const auto header = reinterpret_cast<const fkt_group_header*>(unit.group->bytes().data());
    unit.part->add_group(unit.offset, header->pages, header->stored_bytes);
  }
  unit.part->ends_at(unit.offset + bytes);
  cost_.bytes += bytes;
  // Counts bytes that a CPU had to touch: compression reads all of them, the page cache copies
  // them.
  if (unit.group) cost_.copied += good * rules_.part.page_bytes;
  if (!unit.part->direct()) cost_.copied += bytes;
}

// Finishes all files but the last one that have no writes left.
void FileSink::finish_parts() {
  while (parts_.size() > 1 && (units_.empty() || units_.front()->part != parts_.front().get())) {
    source_->finish(std::move(parts_.front()));
    parts_.pop_front();
  }
}

// Called when the output has ended: waits until no write and no packer thread reads a page.
void FileSink::settle(std::vector<std::uint32_t>& done) {
  waiting_.clear();
  if (packer_) {
    while (packer_->waiting() > 0) place_groups(true);
  }
  while (writer_.under_way() > 0) take_answers(true);
  retire(done);
  units_.clear();
  while (parts_.size() > 1 && parts_.back()->index().empty()) {
    source_->drop(std::move(parts_.back()));
    parts_.pop_back();
  }
  finish_parts();
}

void FileSink::ends(fkt_stop_reason reason, int error, std::string message) {
  if (!ended_) ended_ = SinkEnd{reason, error, std::move(message)};
}

Status FileSink::write_tail(const Sections& tail) {
  PartFile& part = *parts_.back();
  return part.output().write_tail(part.end(), tail);
}

SinkCost FileSink::cost() const {
  SinkCost cost = cost_;
  if (packer_) cost.cpu_ns = packer_->cpu_ns();
  return cost;
}

}  // namespace fkt::record
