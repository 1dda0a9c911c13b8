// SPDX-License-Identifier: GPL-2.0-only
// Where a recording goes: a regular file, a block device, a stream (a pipe, standard output), or
// another machine, of which only the name is known here (remote_sink.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/fkt_record/request.h"
#include "cli/fkt_record/user.h"
#include "lib/file_writer.h"
#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt::record {

class Output {
 public:
  // Opens it and checks that it may be overwritten; empties a regular file.
  static Result<Output> open(const Request& request, const std::optional<User>& owner);

  // A regular file that is open already, for reading and writing; empties it.
  static Result<Output> over(const std::string& name, UniqueFd file);

  const std::string& name() const { return name_; }
  bool is_file() const { return kind_ == Kind::file; }
  bool is_stream() const { return kind_ == Kind::stream; }
  bool is_remote() const { return kind_ == Kind::remote; }
  int fd() const { return fd_.get(); }

  // Writes what stands before the pages. A stream gets the first `early` bytes of it, and the rest
  // by finish_head().
  Status write_head(const std::string& head, std::size_t early = std::string::npos);
  // Writes what stands from `early` on, which is known only when the recording has begun.
  Status finish_head(const std::string& head, std::size_t early);
  std::uint64_t pages_offset() const { return pages_offset_; }
  // Another descriptor for the pages' own way. An error where the output has no direct writes.
  enum class Access { direct, cached };
  Result<UniqueFd> open_for_pages(Access access) const;
  // The next write(2) or sendfile(2) goes behind the head.
  Status seek_to_pages() const;
  // Bytes of pages that there is room for, with `reserve` and `reserve_per_page` left for the
  // tail; 0: the module finds out itself.
  Result<std::uint64_t> room(std::uint64_t reserve, std::uint32_t reserve_per_page,
                             std::uint32_t page_bytes) const;
  // Finishes it: the tail at `offset` (a stream: at its end), and nothing behind it.
  // ErrorCode::damaged: the file is not what was written.
  Status write_tail(std::uint64_t offset, const Sections& tail);
  // It is finished: its space is free as soon as somebody removes it.
  void close() { fd_.reset(); }
  // Nothing of a recording stays: there was none.
  void discard();

 private:
  enum class Kind { file, device, stream, remote };
  Output(std::string name, Kind kind, UniqueFd fd)
      : name_(std::move(name)), kind_(kind), fd_(std::move(fd)) {}

  static Result<Output> open_file(const Request& request);
  static Result<Output> open_device(const Request& request);
  bool has_its_name() const;
  bool is_whole(std::uint64_t end) const;
  // An error: of a file that was cut, deleted or replaced since it was opened. end: of its pages.
  Status intact(std::uint64_t end) const;

  std::string name_;
  Kind kind_;
  UniqueFd fd_;
  std::uint64_t pages_offset_ = 0;
  std::string header_;  // as it was written
  bool named_ = false;  // its name led to it when it was opened
};

}  // namespace fkt::record
