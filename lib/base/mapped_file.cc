// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "lib/base/unique_fd.h"
#include "lib/base/unnamed_file.h"
#include "lib/base/write_file.h"

namespace fkt {
namespace {

Error system_error(const std::string& what) {
  return {ErrorCode::io, what + std::generic_category().message(errno)};
}

// Reads until `room` is full or the input ends; returns the number of bytes read.
Result<std::size_t> read_full(int in, std::span<std::byte> room) {
  std::size_t have = 0;
  while (have < room.size()) {
    const ssize_t got = ::read(in, room.data() + have, room.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("");
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

// Copies all of `in` to an unlinked file, after `check` has accepted its first bytes.
Result<UniqueFd> spool(int in, const HeadCheck& check) {
  std::vector<std::byte> buffer(1 << 20);
  std::size_t got = FKT_TRY(read_full(in, std::span(buffer).first(kInputHead)));
  FKT_TRY(check ? check(subview(buffer, 0, got)) : Done{});
  auto out = FKT_TRY(unnamed_file());
  while (got > 0) {
    FKT_TRY(write_all(out.get(), subview(buffer, 0, got), "cannot spool it to a temporary file"));
    got = FKT_TRY(read_full(in, buffer));
  }
  return out;
}

}  // namespace

void MappedFile::Release::operator()(std::byte* data) const {
  if (mapped > 0) {
    ::munmap(data, mapped);
  } else {
    delete[] data;
  }
}

void MappedFile::forget(std::size_t begin, std::size_t end) const {
  if (data_.get_deleter().mapped == 0) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = std::min(end, size_) / page * page;
  // madvise(2) may fail: then the memory stays in use.
  if (begin < end) ::madvise(data_.get() + begin, end - begin, MADV_DONTNEED);
}

MappedFile MappedFile::copy(ByteView bytes) {
  MappedFile file;
  file.size_ = bytes.size();
  // new[] of bytes is aligned for every fundamental type.
  file.data_ = decltype(data_)(new std::byte[bytes.size()], Release{});
  std::ranges::copy(bytes, file.data_.get());
  return file;
}

Result<MappedFile> MappedFile::map(int fd) {
  // lseek works for block devices too, whose size fstat does not tell.
  const off_t size = ::lseek(fd, 0, SEEK_END);
  if (size < 0) return system_error("");
  MappedFile file;
  if (size == 0) return file;
  void* data = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return system_error("cannot be mapped: ");
  file.size_ = static_cast<std::size_t>(size);
  file.data_ = decltype(data_)(static_cast<std::byte*>(data), Release{file.size_});
  return file;
}

Result<MappedFile> MappedFile::open(const std::string& path, const HeadCheck& check) {
  const bool standard_input = path == "-";
  const UniqueFd file(standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                     : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) return system_error("");
  struct stat status;
  if (::fstat(file.get(), &status) < 0) return system_error("");
  if (S_ISDIR(status.st_mode)) return Error{ErrorCode::io, "is a directory"};
  if (standard_input && ::isatty(file.get())) {
    return Error{ErrorCode::usage, "standard input is a terminal: pipe a recording into it"};
  }
  // Standard input can be mapped only if nothing has been read from it yet.
  if (S_ISBLK(status.st_mode) ||
      (S_ISREG(status.st_mode) && (!standard_input || ::lseek(file.get(), 0, SEEK_CUR) == 0))) {
    return map(file.get());
  }
  const auto spooled = FKT_TRY(spool(file.get(), check));
  return map(spooled.get());
}

}  // namespace fkt
