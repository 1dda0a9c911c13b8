// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/output.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "lib/os_error.h"
#include "lib/record_file.h"

namespace fkt::record {
namespace {

// Left free beside the tail when no size was asked for: others need the file system too.
constexpr std::uint64_t kReserveShare = 100;  // one part in so many
constexpr std::uint64_t kReserveMost = 256 << 20;

using Probe = std::unique_ptr<blkid_struct_probe, decltype(&blkid_free_probe)>;

// What stands on a block device: "ext4", "dos" (a partition table), ...; empty: nothing known.
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

}  // namespace

Result<Output> Output::open(const Request& request, const std::optional<User>& owner) {
  if (request.to_stdout()) {
    UniqueFd fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd) return os_failure("standard output");
    return Output("standard output", Kind::stream, std::move(fd));
  }
  if (request.to_remote()) return Output(request.file, Kind::remote, {});
  struct stat is {};
  const bool exists = ::stat(request.file.c_str(), &is) == 0;
  if (exists && S_ISBLK(is.st_mode)) return open_device(request);
  if (exists && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode)) {
    UniqueFd fd(::open(request.file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd) return os_failure(request.file);
    return Output(request.file, Kind::stream, std::move(fd));
  }
  Result<Output> output = open_file(request);
  if (output && owner && ::fchown(output->fd(), owner->uid, owner->gid) != 0) {
    return os_failure(request.file + ": giving it to user " + owner->name);
  }
  return output;
}

Result<Output> Output::open_file(const Request& request) {
  Result<UniqueFd> fd = open_record_file(request.file, request.replace);
  if (!fd) return fd.error();
  return over(request.file, std::move(*fd));
}

Result<Output> Output::over(const std::string& name, UniqueFd file) {
  if (::ftruncate(file.get(), 0) != 0) return os_failure(name);
  Output output(name, Kind::file, std::move(file));
  output.named_ = output.has_its_name();
  return output;
}

Result<Output> Output::open_device(const Request& request) {
  const std::string& name = request.file;
  // O_EXCL: a device that is mounted, or part of something else, refuses.
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
  if (!fd && errno == EBUSY) {
    return Error{ErrorCode::io, name + ": the device is mounted, or in use otherwise"};
  }
  if (!fd) return os_failure(name);
  if (request.replace != Replace::anything) {
    if (holds_fkt_file(fd.get())) {
      return Error{ErrorCode::io, name + ": there is a recording on it (--force overwrites it)"};
    }
    const Result<std::string> contents = contents_of(fd.get(), name);
    if (!contents) return contents.error();
    if (!contents->empty()) {
      return Error{ErrorCode::io,
                   name + ": there is " + *contents + " on it (--force overwrites it)"};
    }
  }
  return Output(name, Kind::device, std::move(fd));
}

Status Output::write_head(const std::string& head, std::size_t early) {
  pages_offset_ = head.size();
  header_ = head.substr(0, sizeof(fkt_file_header));
  if (kind_ == Kind::stream)
    return write_all(fd_.get(), as_bytes(head).first(std::min(early, head.size())), name_);
  // Not where the descriptor stands: the search for a file system has moved it.
  return write_at(fd_.get(), as_bytes(head), 0, name_);
}

Status Output::finish_head(const std::string& head, std::size_t early) {
  const ByteView rest = as_bytes(head).subspan(early);
  if (kind_ == Kind::stream) return write_all(fd_.get(), rest, name_);
  return write_at(fd_.get(), rest, early, name_);
}

Result<UniqueFd> Output::open_for_pages(Access access) const {
  // Through /proc, so that it is the same file whatever happened to its name.
  const std::string path = "/proc/self/fd/" + std::to_string(fd_.get());
  const int direct = access == Access::direct ? O_DIRECT : 0;
  UniqueFd pages(::open(path.c_str(), O_WRONLY | O_CLOEXEC | direct));
  // Another's file that we were given (a snapshot's) may be closed to us by its name.
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

// Does the name lead to the open file?
bool Output::has_its_name() const {
  struct stat open {
  }, named{};
  return ::fstat(fd_.get(), &open) == 0 && ::stat(name_.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Is all of it still in the file, up to `end`? Others may write to it, and cut it.
bool Output::is_whole(std::uint64_t end) const {
  std::string header(header_.size(), '\0');
  const ssize_t got = ::pread(fd_.get(), header.data(), header.size(), 0);
  if (got != static_cast<ssize_t>(header.size()) || header != header_) return false;
  if (end == pages_offset_) return true;
  // What was cut off and then written behind has a hole in it: pages leave none.
  const off_t hole = ::lseek(fd_.get(), static_cast<off_t>(pages_offset_), SEEK_HOLE);
  if (hole < 0) return errno != ENXIO;  // ENXIO: it ends before; others: not to be asked here
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

Status Output::write_tail(std::uint64_t offset, const Sections& tail) {
  if (kind_ == Kind::stream) return write_all(fd_.get(), as_bytes(tail.bytes()), name_);
  // Asked before the file grows again; what is left of it gets its tail all the same.
  const Status untouched = intact(offset);
  const Status written = fkt::write_tail(fd_.get(), offset, tail, name_);
  if (!untouched) return untouched;
  if (!written) return written;
  const auto end = static_cast<off_t>(offset + tail.bytes().size());
  if (kind_ == Kind::file && ::ftruncate(fd_.get(), end) != 0) return os_failure(name_);
  return Done{};
}

void Output::discard() {
  if (kind_ == Kind::file) {
    ::unlink(name_.c_str());
  } else if (kind_ == Kind::device && pages_offset_ > 0) {
    // No recording begins here any more; if that fails, there is nobody left to tell.
    const std::string nothing(sizeof(fkt_file_header), '\0');
    (void)!static_cast<bool>(write_at(fd_.get(), as_bytes(nothing), 0, name_));
  }
}

}  // namespace fkt::record
