// SPDX-License-Identifier: GPL-2.0-only
// The record file that a recording from another machine becomes. It can be read at every moment,
// as one that is written by fkt_record.
#pragma once

#include <cstdint>
#include <string>

#include <fkt/file.h>

#include "lib/record_file.h"
#include "lib/remote/incoming.h"
#include "lib/space_ahead.h"
#include "lib/unique_fd.h"

namespace fkt::receive {

class ArrivingFile : public remote::Store {
 public:
  // Makes the file, or opens one that is there; an error if that is neither empty nor an FKT file,
  // unless `replace` says so. What stands in it stays until a recording arrives.
  static Result<ArrivingFile> open(const std::string& name, Replace replace);
  ArrivingFile(ArrivingFile&& other) = default;
  // What stayed empty goes, and what was allocated behind the file.
  ~ArrivingFile() override;

  // One recording per file; another one is FKT_REMOTE_BUSY. A file that has the begin of the
  // recording already, from a receiver that was ended, is gone on with.
  Begun begin(std::uint64_t recording, std::uint32_t page_bytes) override;
  int write(ByteView bytes) override;
  bool has_reserve() const override { return full_ != 0; }
  int finish(std::uint64_t tail_offset) override;
  void abort() override;

  const std::string& name() const { return name_; }
  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  // Whole pages of them; before the end, what stands behind the pages may be counted with them.
  std::uint64_t pages() const;
  bool is_begun() const { return recording_ != 0; }
  bool is_done() const { return state_ == State::done; }
  bool is_aborted() const { return state_ == State::aborted; }
  // errno of the write that failed, or 0.
  int error() const { return error_; }
  // It holds a recording that no other one may replace; that one may go on.
  bool goes_on_only() const { return goes_on_only_; }
  // The same of what found no room, where only the end could still come.
  int full() const { return full_; }

 private:
  enum class State { arriving, done, aborted };
  ArrivingFile(std::string name, UniqueFd fd) : name_(std::move(name)), fd_(std::move(fd)) {}
  Result<fkt_file_header> header() const;
  bool holds(std::uint64_t recording) const;
  int failed(int error);
  int make_room(std::uint64_t bytes);
  bool ends_with_a_page() const;

  std::string name_;
  UniqueFd fd_;
  State state_ = State::arriving;
  std::uint64_t recording_ = 0;  // 0: none yet
  std::uint32_t page_bytes_ = 0;
  std::uint64_t bytes_ = 0;
  int error_ = 0, full_ = 0;
  bool goes_on_only_ = false;
  SpaceAhead space_{0, SpaceAhead::Size::stays};
};

}  // namespace fkt::receive
