// SPDX-License-Identifier: GPL-2.0-only
#include "lib/slice/checkpoint_cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "lib/base/crc32.h"
#include "lib/base/mapped_file.h"
#include "lib/base/os_error.h"
#include "lib/base/text.h"
#include "lib/base/unique_fd.h"
#include "lib/base/version.h"
#include "lib/base/write_file.h"
#include "lib/format/file_header.h"
#include "lib/format/file_writer.h"
#include "lib/format/sections.h"

namespace fkt {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kFormat = 1;  // increased when the meaning of a stored state changes
constexpr std::uint64_t kMostMoments = 64;
constexpr std::uint64_t kMostBytes = 32 << 20;  // limit for the lines of all states
constexpr std::size_t kMostFiles = 32;          // in the folder; older ones are removed
constexpr std::string_view kSuffix = ".states";

template <class T>
void mix(std::uint32_t& sum, const T& value) {
  sum = crc32(std::as_bytes(std::span(&value, 1)), sum);
}

// Checksum of what the states depend on: position and time of every page, and the reader's version.
std::uint32_t checksum(const Recording& recording) {
  std::uint32_t sum = crc32(as_bytes(kVersion));
  mix(sum, kFormat);
  mix(sum, recording.file().size());
  for (const PageRef& page : recording.pages()) {
    mix(sum, page.offset);
    mix(sum, page.first_clock);
    mix(sum, page.end_clock);
    mix(sum, page.seq);
    mix(sum, page.cpu);
    mix(sum, page.events);
  }
  return sum;
}

bool is_ours(const fs::path& folder) {
  struct stat is {};
  return ::stat(folder.c_str(), &is) == 0 && S_ISDIR(is.st_mode) && is.st_uid == ::geteuid();
}

// Removes the files that were written longest ago if there are more than kMostFiles.
void make_room(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == kSuffix) {
      files.emplace_back(entry.last_write_time(error), entry.path());
    }
  }
  if (files.size() <= kMostFiles) return;
  std::ranges::sort(files, std::greater());
  for (std::size_t i = kMostFiles; i < files.size(); i++) fs::remove(files[i].second, error);
}

// Writes a temporary file and renames it, so that readers never see an incomplete one.
Status replace(const fs::path& path, std::string_view bytes) {
  std::string temporary = path.string() + ".XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return os_failure(path);
  Status written = write_all(fd.get(), as_bytes(bytes), path);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = os_failure(path);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

}  // namespace

CheckpointCache::CheckpointCache(const Recording& recording, std::string folder,
                                 std::uint64_t apart)
    : folder_(std::move(folder)) {
  const Integrity& integrity = recording.integrity();
  const bool whole = integrity.missing_pages == 0 && integrity.damaged_pages == 0;
  if (recording.info().checkpoint || recording.info().tasks_of_end || !whole) return;
  plan(recording, apart);
  if (moments_.empty() || folder_.empty()) return;
  const std::uint32_t sum = checksum(recording);
  key_ = recording.info().recording ^ sum;
  file_ = folder_ + '/' + hex(recording.info().recording) + '-' + hex(sum) + std::string(kSuffix);
  load();
}

// Chooses the moments: one after a fixed number of pages, counting the pages of all CPUs.
void CheckpointCache::plan(const Recording& recording, std::uint64_t apart) {
  std::vector<std::uint64_t> begins;
  for (const PageRef& page : recording.pages()) begins.push_back(page.first_clock);
  std::ranges::sort(begins);
  const std::uint64_t bytes =
      std::max(apart, begins.size() * recording.info().page_bytes / kMostMoments);
  const std::uint64_t step = std::max<std::uint64_t>(1, bytes / recording.info().page_bytes);
  for (std::uint64_t i = step; i < begins.size(); i += step) {
    if (moments_.empty() || begins[i] > moments_.back()) moments_.push_back(begins[i]);
  }
}

void CheckpointCache::load() {
  const Result<MappedFile> file = MappedFile::open(file_);
  if (!file) return;
  const Result<fkt_file_header> header = read_file_header(file->bytes());
  if (!header || header->recording != key_) return;
  for (const Section& section :
       walk_sections(file->bytes(), header->header_bytes, header->pages_offset).sections) {
    const Result<Payload> payload = Payload::read(section);
    if (section.header.type != FKT_SEC_CUT || !payload) continue;
    const Result<Checkpoint> checkpoint = Checkpoint::parse(payload->text());
    if (!checkpoint || !std::ranges::binary_search(moments_, checkpoint->from)) continue;
    bytes_ += payload->text().size();
    states_[checkpoint->from] = payload->text();
  }
}

std::optional<Checkpoint> CheckpointCache::before(std::uint64_t moment) const {
  const auto behind = states_.upper_bound(moment);
  if (behind == states_.begin()) return std::nullopt;
  Result<Checkpoint> checkpoint = Checkpoint::parse(std::prev(behind)->second);
  if (!checkpoint) return std::nullopt;
  return std::move(*checkpoint);
}

void CheckpointCache::add(const Checkpoint& checkpoint) {
  if (!std::ranges::binary_search(moments_, checkpoint.from)) return;
  std::string& lines = states_[checkpoint.from];
  bytes_ -= lines.size();
  lines = checkpoint.to_lines();
  bytes_ += lines.size();
  added_ = true;
  while (bytes_ > kMostBytes && !moments_.empty()) thin_out();
}

// Removes every second moment.
void CheckpointCache::thin_out() {
  std::vector<std::uint64_t> kept;
  for (std::size_t i = 1; i < moments_.size(); i += 2) kept.push_back(moments_[i]);
  moments_ = std::move(kept);
  std::erase_if(states_, [this](const auto& state) {
    const bool gone = !std::ranges::binary_search(moments_, state.first);
    if (gone) bytes_ -= state.second.size();
    return gone;
  });
}

Status CheckpointCache::keep() {
  if (!added_ || file_.empty()) return Done{};
  std::error_code error;
  fs::create_directory(folder_, error);
  if (!is_ours(folder_))
    return Error{ErrorCode::io, folder_ + ": it is not this user's own folder"};
  Sections sections;
  for (const auto& [moment, lines] : states_) {
    FKT_TRY(sections.add(FKT_SEC_CUT, lines));
  }
  const Status written = replace(file_, file_head(key_, FKT_PAGE_MIN_BYTES, sections));
  make_room(folder_);
  added_ = !written;
  return written;
}

std::string cache_folder() {
  const auto of = [](const char* name) {
    const char* value = ::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  fs::path folder = of("XDG_CACHE_HOME");
  if (!folder.is_absolute()) {
    const fs::path home = of("HOME");
    if (!home.is_absolute() || !is_ours(home)) return {};
    folder = home / ".cache";
    std::error_code error;
    fs::create_directory(folder, error);
  }
  return is_ours(folder) ? (folder / "fkt").string() : std::string();
}

}  // namespace fkt
