// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_receive/arriving_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <limits>

#include <fkt/file.h>

#include "lib/base/os_error.h"
#include "lib/format/file_header.h"

namespace fkt::receive {
namespace {

// Bytes reserved for the sections after the pages, without the index, whose size depends on the
// number of pages.
constexpr std::uint64_t kReserve = 1 << 20;

// Writes all bytes at `offset`. Returns 0 or errno.
int write_whole(int fd, ByteView bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

// Returns true if a tail at this offset is preceded by whole pages.
bool is_tail_of(const fkt_file_header& header, std::uint64_t tail, std::uint64_t bytes) {
  return tail >= header.pages_offset && tail <= bytes &&
         (tail - header.pages_offset) % header.page_bytes == 0;
}

}  // namespace

Result<ArrivingFile> ArrivingFile::open(const std::string& name, Replace replace) {
  // Mode 0600: a recording contains data of all users.
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
  struct stat is {};
  if (!fd || ::fstat(fd.get(), &is) != 0) return os_failure(name);
  if (!S_ISREG(is.st_mode)) return Error{ErrorCode::io, name + ": it is no file"};
  ArrivingFile file(name, std::move(fd));
  const bool recording = static_cast<bool>(file.header());
  if (is.st_size > 0 && replace != Replace::anything && !recording) {
    return Error{ErrorCode::io, name + ": it exists and is no FKT file (--force overwrites it)"};
  }
  file.goes_on_only_ = recording && replace == Replace::nothing;
  return file;
}

ArrivingFile::~ArrivingFile() {
  struct stat is {};
  if (!fd_ || ::fstat(fd_.get(), &is) != 0) return;
  if (is.st_size == 0) {
    ::unlink(name_.c_str());
  } else if (is_begun()) {
    (void)!::ftruncate(fd_.get(), is.st_size);
  }
}

Result<fkt_file_header> ArrivingFile::header() const {
  std::array<std::byte, sizeof(fkt_file_header)> bytes;
  const ssize_t got = ::pread(fd_.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) return os_failure(name_);
  return read_file_header(ByteView(bytes).first(static_cast<std::size_t>(got)));
}

bool ArrivingFile::holds(std::uint64_t recording) const {
  const Result<fkt_file_header> is = header();
  return is && is->recording == recording;
}

remote::Store::Begun ArrivingFile::begin(std::uint64_t recording, std::uint32_t page_bytes) {
  if (is_begun() && recording != recording_) return {FKT_REMOTE_BUSY, 0, 0};
  if (recording == 0) return {FKT_REMOTE_FAILED, 0, EBADMSG};
  if (error_ != 0) return {FKT_REMOTE_FAILED, bytes_, error_};
  if (!is_begun()) {
    struct stat is {};
    const bool goes_on = holds(recording);
    if (!goes_on && goes_on_only_) return {FKT_REMOTE_BUSY, 0, 0};
    if (!goes_on && ::ftruncate(fd_.get(), 0) != 0) return {FKT_REMOTE_FAILED, 0, failed(errno)};
    if (::fstat(fd_.get(), &is) != 0) return {FKT_REMOTE_FAILED, 0, failed(errno)};
    recording_ = recording;
    page_bytes_ = page_bytes;
    bytes_ = static_cast<std::uint64_t>(is.st_size);
    space_ = Preallocation(bytes_, Preallocation::Size::stays);
    if (goes_on && header()->tail_offset != 0) done_ = true;
  }
  if (is_done()) return {FKT_REMOTE_DONE, bytes_, 0};
  return {full_ != 0 ? FKT_REMOTE_FULL : FKT_REMOTE_GOING, bytes_, full_};
}

// Allocates space for these bytes and for the tail after them. Once the disk was full, only the
// tail may come, and its space is already allocated.
int ArrivingFile::make_room(std::uint64_t bytes) {
  if (full_ != 0) return 0;
  const std::uint64_t upto = bytes_ + bytes;
  const std::uint64_t index = upto / page_bytes_ * sizeof(fkt_index_entry);
  return space_.make(fd_.get(), upto + kReserve + index, std::numeric_limits<std::uint64_t>::max());
}

bool ArrivingFile::ends_with_a_page() const {
  const Result<fkt_file_header> is = header();
  return is && is_tail_of(*is, bytes_, bytes_);
}

int ArrivingFile::write(ByteView bytes) {
  if (const int error = make_room(bytes.size())) {
    if (!is_full(error) || !ends_with_a_page()) return failed(error);
    return full_ = error;
  }
  if (const int error = write_whole(fd_.get(), bytes, bytes_)) {
    // Truncates a partial write: the sender assumes that only acknowledged bytes are in the file.
    (void)!::ftruncate(fd_.get(), static_cast<off_t>(bytes_));
    return failed(error);
  }
  bytes_ += bytes.size();
  return 0;
}

int ArrivingFile::finish(std::uint64_t tail_offset) {
  const Result<fkt_file_header> is = header();
  if (!is || is->recording != recording_ || is->page_bytes != page_bytes_ ||
      !is_tail_of(*is, tail_offset, bytes_)) {
    return failed(EBADMSG);
  }
  // The tail must be on the disk before the header points to it.
  if (::fdatasync(fd_.get()) != 0) return failed(errno);
  const ByteView pointer(reinterpret_cast<const std::byte*>(&tail_offset), sizeof tail_offset);
  if (const int error = write_whole(fd_.get(), pointer, offsetof(fkt_file_header, tail_offset))) {
    return failed(error);
  }
  if (::fdatasync(fd_.get()) != 0) return failed(errno);
  // Frees the space allocated behind the end.
  (void)!::ftruncate(fd_.get(), static_cast<off_t>(bytes_));
  done_ = true;
  return 0;
}

void ArrivingFile::abort() {
  (void)!::ftruncate(fd_.get(), 0);
  bytes_ = 0;
  done_ = false;
}

std::uint64_t ArrivingFile::pages() const {
  const Result<fkt_file_header> is = header();
  if (!is || bytes_ < is->pages_offset) return 0;
  const std::uint64_t end = is->tail_offset != 0 ? is->tail_offset : bytes_;
  return (end - is->pages_offset) / is->page_bytes;
}

int ArrivingFile::failed(int error) {
  error_ = error;
  return error;
}

}  // namespace fkt::receive
