// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/messages.h"
#include "lib/base/os_error.h"
#include "lib/base/write_file.h"
#include "lib/record/output_file.h"

namespace fkt::cli {
namespace {

// Bytes of a text file that are buffered before they are written.
constexpr std::size_t kPiece = 256 << 10;

}  // namespace

Result<TextFile> TextFile::create(const std::string& path) {
  if (path == "-") return TextFile(UniqueFd(), path);
  struct stat is {};
  const bool regular = ::stat(path.c_str(), &is) != 0 || S_ISREG(is.st_mode);
  UniqueFd file(::open(path.c_str(), (regular ? O_RDWR | O_CREAT : O_WRONLY) | O_CLOEXEC, 0666));
  if (!file && errno == EACCES) file = UniqueFd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return os_failure(path);
  if (holds_fkt_file(file.get())) {
    return Error{ErrorCode::io, path + ": it holds a recording: name another file"};
  }
  if (regular && ::ftruncate(file.get(), 0) != 0) return os_failure(path);
  return TextFile(std::move(file), path);
}

Status TextFile::flush(bool all) {
  if (!all && out_.size() < kPiece) return Done{};
  const bool to_file = fd_.get() >= 0;
  const Status written = to_file ? write_all(fd_.get(), as_bytes(out_.view()), path_) : put_out();
  out_.clear();
  return written;
}

// A pipe whose reader has exited is no error: put() returns false, and the text is dropped.
Status TextFile::put_out() const {
  const Result<bool> written = put(out_.view());
  return written ? Status(Done{}) : written.error();
}

}  // namespace fkt::cli
