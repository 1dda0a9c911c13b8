// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/output/output.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "lib/base/os_error.h"
#include "lib/base/write_file.h"
#include "lib/record/output_file.h"

namespace fkt::record {
namespace {

// Space left free beside the tail when no -s was given, because other programs need the file system
// too.
constexpr std::uint64_t kReserveShare = 100;  // 1/100
constexpr std::uint64_t kReserveMost = 256 << 20;
constexpr std::uint64_t kCopyBytes = 1 << 20;

using Probe = std::unique_ptr<blkid_struct_probe, decltype(&blkid_free_probe)>;

// The type of a block device's contents: "ext4", "dos" (a partition table) and so on; empty if none
// is known.
Result<std::string> contents_of(int fd, const std::string& name) {
  const Probe probe(blkid_new_probe(), &blkid_free_probe);
  if (!probe || blkid_probe_set_device(probe.get(), fd, 0, 0) != 0) return os_failure(name);
  blkid_probe_enable_superblocks(probe.get(), 1);
  blkid_probe_enable_partitions(probe.get(), 1);
  const int found = blkid_do_safeprobe(probe.get());
  if (found == 1) return std::string();
  if (found == -2) return std::string("several file systems");
  if (found != 0) return os_failure(name, EIO);
  const char* type = nullptr;
  if (blkid_probe_lookup_value(probe.get(), "TYPE", &type, nullptr) == 0) return std::string(type);
  if (blkid_probe_lookup_value(probe.get(), "PTTYPE", &type, nullptr) == 0) {
    return std::string("partition table ") + type;
  }
  return std::string("something");
}

// Opens a pipe or a character device for writing. A pipe can be opened when a process reads it:
// until then this looks again and again, because it must end with a signal, and the signals that
// end a recording are blocked (wait/signals.h). Nor does a serial line wait for its carrier.
Result<UniqueFd> open_stream(const std::string& name) {
  constexpr timespec kPause{0, 50'000'000};
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&ends, number);
  for (;;) {
    UniqueFd fd(::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!fd && errno != ENXIO && errno != EINTR) return os_failure(name);
    if (fd && ::fcntl(fd.get(), F_SETFL, 0) == 0) return fd;
    if (fd) return os_failure(name);
    struct stat is {};
    if (errno == ENXIO && (::stat(name.c_str(), &is) != 0 || !S_ISFIFO(is.st_mode))) {
      return os_failure(name, ENXIO);
    }
    if (::sigtimedwait(&ends, nullptr, &kPause) > 0) {
      return Error{ErrorCode::io, name + ": ended by a signal: no process reads this pipe"};
    }
  }
}

}  // namespace

Result<Output> Output::open(const OutputPlan& plan) {
  if (plan.to_stdout()) {
    UniqueFd fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd) return os_failure("standard output");
    return Output("standard output", Kind::stream, std::move(fd));
  }
  if (plan.to_remote()) return Output(plan.file, Kind::remote, {});
  struct stat is {};
  const bool exists = ::stat(plan.file.c_str(), &is) == 0;
  if (exists && S_ISBLK(is.st_mode)) return open_device(plan);
  if (exists && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode)) {
    auto fd = FKT_TRY(open_stream(plan.file));
    return Output(plan.file, Kind::stream, std::move(fd));
  }
  Result<Output> output = open_file(plan);
  if (output && plan.owner && ::fchown(output->fd(), plan.owner->uid, plan.owner->gid) != 0) {
    return os_failure(plan.file + ": giving it to user " + plan.owner->name);
  }
  return output;
}

Result<Output> Output::open_file(const OutputPlan& plan) {
  auto fd = FKT_TRY(open_output_file(plan.file, plan.replace));
  return over(plan.file, std::move(fd));
}

Result<Output> Output::over(const std::string& name, UniqueFd file) {
  if (::ftruncate(file.get(), 0) != 0) return os_failure(name);
  Output output(name, Kind::file, std::move(file));
  output.named_ = output.has_its_name();
  return output;
}

Result<Output> Output::open_device(const OutputPlan& plan) {
  const std::string& name = plan.file;
  // With O_EXCL the open fails with EBUSY if the device is mounted or part of a RAID or volume
  // group.
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
  if (!fd && errno == EBUSY) {
    return Error{ErrorCode::io, name + ": the device is mounted, or in use otherwise"};
  }
  if (!fd) return os_failure(name);
  if (plan.replace != Replace::anything) {
    if (holds_fkt_file(fd.get())) {
      return Error{ErrorCode::io, name + ": there is a recording on it (--force overwrites it)"};
    }
    const auto contents = FKT_TRY(contents_of(fd.get(), name));
    if (!contents.empty()) {
      return Error{ErrorCode::io,
                   name + ": there is " + contents + " on it (--force overwrites it)"};
    }
  }
  return Output(name, Kind::device, std::move(fd));
}

Status Output::write_head(const std::string& head, std::size_t early) {
  pages_offset_ = head.size();
  header_ = head.substr(0, sizeof(fkt_file_header));
  if (kind_ == Kind::stream)
    return write_all(fd_.get(), as_bytes(head).first(std::min(early, head.size())), name_);
  // Written at offset 0 explicitly: the search for a file system has moved the file position.
  return write_at(fd_.get(), as_bytes(head), 0, name_);
}

Status Output::finish_head(const std::string& head, std::size_t early) {
  const ByteView rest = as_bytes(head).subspan(early);
  if (kind_ == Kind::stream) return write_all(fd_.get(), rest, name_);
  return write_at(fd_.get(), rest, early, name_);
}

Result<UniqueFd> Output::open_for_pages(Access access) const {
  // Opened by /proc/self/fd, so that it is the same file even if it was renamed or deleted.
  const std::string path = fmt::format("/proc/self/fd/{}", fd_.get());
  const int direct = access == Access::direct ? O_DIRECT : 0;
  UniqueFd pages(::open(path.c_str(), O_WRONLY | O_CLOEXEC | direct));
  // A snapshot's file belongs to the user who asked and may not be openable by name; a duplicate of
  // the descriptor works without direct writes.
  if (!pages && errno == EACCES && access == Access::cached) {
    pages = UniqueFd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 3));
  }
  if (!pages) return os_failure(name_);
  return pages;
}

Status Output::seek_to_pages() const {
  if (is_stream() || ::lseek(fd_.get(), static_cast<off_t>(pages_offset_), SEEK_SET) >= 0) {
    return Done{};
  }
  return os_failure(name_);
}

Result<std::uint64_t> Output::room(std::uint64_t reserve, std::uint32_t reserve_per_page,
                                   std::uint32_t page_bytes) const {
  if (kind_ != Kind::file) return std::uint64_t{0};
  struct statvfs space {};
  if (::fstatvfs(fd_.get(), &space) != 0) return os_failure(name_);
  const std::uint64_t left = std::uint64_t{space.f_bavail} * space.f_frsize;
  reserve += std::min(left / kReserveShare, kReserveMost);
  const std::uint64_t pages =
      left > reserve ? (left - reserve) / (page_bytes + reserve_per_page) : 0;
  if (pages == 0) return os_failure(name_, ENOSPC);
  return pages * page_bytes;
}

// Returns true if the name still refers to the open file.
bool Output::has_its_name() const {
  struct stat open {
  }, named{};
  return ::fstat(fd_.get(), &open) == 0 && ::stat(name_.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Returns true if the file still holds the header and all bytes up to `end`. Other programs may
// have written to it or truncated it.
bool Output::is_whole(std::uint64_t end) const {
  std::string header(header_.size(), '\0');
  const ssize_t got = ::pread(fd_.get(), header.data(), header.size(), 0);
  if (got < 0) return true;  // a failing disk: the error of the write or fsync says so
  if (got != static_cast<ssize_t>(header.size()) || header != header_) return false;
  if (end == pages_offset_) return true;
  // Pages leave no holes, so a hole means that the file was truncated and then extended again.
  const off_t hole = ::lseek(fd_.get(), static_cast<off_t>(pages_offset_), SEEK_HOLE);
  // ENXIO: the file ends before the pages; other errors: the file system cannot tell
  if (hole < 0) return errno != ENXIO;
  return static_cast<std::uint64_t>(hole) >= end;
}

Status Output::intact(std::uint64_t end) const {
  struct stat is {};
  if (kind_ != Kind::file || ::fstat(fd_.get(), &is) != 0) return Done{};
  const auto error = [this](const char* what) {
    return Error{ErrorCode::damaged, name_ + ": " + what};
  };
  if (named_ && is.st_nlink == 0) {
    return error("the file was deleted while it was recorded: the recording is lost");
  }
  if (!is_whole(end)) {
    return error("the file was cut or overwritten while it was recorded: events are missing in it");
  }
  if (named_ && !has_its_name()) {
    return error(
        "the file was renamed or replaced while it was recorded: the recording is not here");
  }
  return Done{};
}

Status Output::drop_first_pages(std::uint64_t bytes, std::uint64_t rest) {
  const auto to = static_cast<off_t>(pages_offset_), size = static_cast<off_t>(bytes);
  if (bytes == 0 || ::fallocate(fd_.get(), FALLOC_FL_COLLAPSE_RANGE, to, size) == 0) return Done{};
  // File systems that cannot do that: the bytes are copied, the first ones first.
  std::string part(std::min<std::uint64_t>(rest, kCopyBytes), '\0');
  for (std::uint64_t done = 0; done < rest;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(part.size(), rest - done);
    const ssize_t got =
        ::pread(fd_.get(), part.data(), wanted, static_cast<off_t>(pages_offset_ + bytes + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return os_failure(name_, got < 0 ? errno : EIO);
    const std::string_view copied(part.data(), static_cast<std::size_t>(got));
    FKT_TRY(write_at(fd_.get(), as_bytes(copied), pages_offset_ + done, name_));
    done += copied.size();
  }
  return Done{};
}

Status Output::drop_behind(std::uint64_t bytes) {
  const auto end = static_cast<off_t>(pages_offset_ + bytes);
  if (::ftruncate(fd_.get(), end) != 0) return os_failure(name_);
  return Done{};
}

Status Output::write_tail(std::uint64_t offset, const Sections& tail) {
  if (kind_ == Kind::stream) return write_all(fd_.get(), as_bytes(tail.bytes()), name_);
  // Checked before the tail makes the file longer. The tail is written even if the check fails.
  const Status untouched = intact(offset);
  const Status written = fkt::write_tail(fd_.get(), offset, tail, name_);
  // A failing disk leaves holes too, and is the better explanation.
  if (!written) return written;
  if (!untouched) return untouched;
  const auto end = static_cast<off_t>(offset + tail.bytes().size());
  if (kind_ == Kind::file && ::ftruncate(fd_.get(), end) != 0) return os_failure(name_);
  return Done{};
}

void Output::discard() {
  if (kind_ == Kind::file) {
    ::unlink(name_.c_str());
  } else if (kind_ == Kind::device && pages_offset_ > 0) {
    // Overwrites the header, so that no recording begins here. A failure is ignored: nothing more
    // can be done.
    const std::string nothing(sizeof(fkt_file_header), '\0');
    (void)!static_cast<bool>(write_at(fd_.get(), as_bytes(nothing), 0, name_));
  }
}

}  // namespace fkt::record
