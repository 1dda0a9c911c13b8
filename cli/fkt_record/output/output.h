// SPDX-License-Identifier: GPL-2.0-only
// The output of a recording: a regular file, a block device, a stream (pipe or standard output), or
// another machine, of which this class knows only the name (see remote_sink.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/fkt_record/workload/user.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/format/file_writer.h"
#include "lib/record/output_file.h"
#include "lib/remote/address.h"

namespace fkt::record {

// Which output, and what may be done with what is there.
struct OutputPlan {
  std::string file = "trace_file";        // "-": standard output; tcp://...: another machine
  Replace replace = Replace::recordings;  // what may be overwritten
  std::optional<User> owner{};            // of a regular file; nothing: this process's user

  bool to_stdout() const { return file == "-"; }
  bool to_remote() const { return file.starts_with(remote::kScheme); }
  // Returns the plan for another file.
  OutputPlan with_file(std::string name) const { return {std::move(name), replace, owner}; }
};

class Output {
 public:
  // Opens the output and checks that it may be overwritten; truncates a regular file.
  static Result<Output> open(const OutputPlan& plan);

  // Makes an output of a regular file that is open for reading and writing; truncates it. `name` is
  // used in messages.
  static Result<Output> over(const std::string& name, UniqueFd file);

  const std::string& name() const { return name_; }
  bool is_file() const { return kind_ == Kind::file; }
  bool is_stream() const { return kind_ == Kind::stream; }
  bool is_remote() const { return kind_ == Kind::remote; }
  int fd() const { return fd_.get(); }

  // Writes the sections before the pages. A stream gets only the first `early` bytes; finish_head()
  // writes the rest.
  Status write_head(const std::string& head, std::size_t early = std::string::npos);
  // Writes the head from byte `early` on. That part holds the clocks of the start, which are known
  // only after FKT_START.
  Status finish_head(const std::string& head, std::size_t early);
  std::uint64_t pages_offset() const { return pages_offset_; }
  // Opens another descriptor for writing pages. With Access::direct (O_DIRECT), returns an error if
  // the output does not support direct writes.
  enum class Access { direct, cached };
  Result<UniqueFd> open_for_pages(Access access) const;
  // Sets the file position to the end of the head, for write(2) or sendfile(2).
  Status seek_to_pages() const;
  // Bytes of pages that fit, with `reserve` bytes plus `reserve_per_page` bytes per page kept for
  // the tail; 0 if the output is not a regular file: the end is found by writing.
  Result<std::uint64_t> room(std::uint64_t reserve, std::uint32_t reserve_per_page,
                             std::uint32_t page_bytes) const;
  // Of a regular file: the first `bytes` bytes of pages go, and the next `rest` ones, which are not
  // fewer, take their place.
  Status drop_first_pages(std::uint64_t bytes, std::uint64_t rest);
  // Of a regular file: what is behind the first `bytes` bytes of pages goes.
  Status drop_behind(std::uint64_t bytes);
  // Writes the tail at `offset` (on a stream: at its end) and truncates the file behind it. Returns
  // ErrorCode::damaged if the file no longer holds what was written to it.
  Status write_tail(std::uint64_t offset, const Sections& tail);
  // Closes the file, so that its space is freed as soon as it is deleted.
  void close() { fd_.reset(); }
  // Deletes the file, or overwrites the header on a device: there is no recording in it.
  void discard();

 private:
  enum class Kind { file, device, stream, remote };
  Output(std::string name, Kind kind, UniqueFd fd)
      : name_(std::move(name)), kind_(kind), fd_(std::move(fd)) {}

  static Result<Output> open_file(const OutputPlan& plan);
  static Result<Output> open_device(const OutputPlan& plan);
  bool has_its_name() const;
  bool is_whole(std::uint64_t end) const;
  // Returns an error if the file was truncated, deleted or replaced since it was opened. end: end
  // of the pages in bytes.
  Status intact(std::uint64_t end) const;

  std::string name_;
  Kind kind_;
  UniqueFd fd_;
  std::uint64_t pages_offset_ = 0;
  std::string header_;  // as written
  bool named_ = false;  // at the open, the name referred to the file
};

}  // namespace fkt::record
