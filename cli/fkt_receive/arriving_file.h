// SPDX-License-Identifier: GPL-2.0-only
// The file that stores a recording from another machine. It can be read at any time, like a file
// that fkt_record is writing.
#pragma once

#include <cstdint>
#include <string>

#include <fkt/file.h>

#include "lib/base/unique_fd.h"
#include "lib/record/output_file.h"
#include "lib/record/preallocation.h"
#include "lib/remote/incoming.h"

namespace fkt::receive {

class ArrivingFile : public remote::Store {
 public:
  // Creates or opens the file. Returns an error if it is neither empty nor an FKT file, unless
  // `replace` allows it. Its contents stay until a recording arrives.
  static Result<ArrivingFile> open(const std::string& name, Replace replace);
  ArrivingFile(ArrivingFile&& other) = default;
  // Removes the file if it is empty; else frees the space allocated behind its end.
  ~ArrivingFile() override;

  // Starts or continues a recording; returns FKT_REMOTE_BUSY for a second one. If the file holds
  // the beginning of this recording from a receiver that has exited, it is continued.
  Begun begin(std::uint64_t recording, std::uint32_t page_bytes) override;
  int write(ByteView bytes) override;
  bool has_reserve() const override { return full_ != 0; }
  int finish(std::uint64_t tail_offset) override;
  void abort() override;

  const std::string& name() const { return name_; }
  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  // Number of whole pages received. Until finish(), bytes of the tail may count as pages.
  std::uint64_t pages() const;
  bool is_begun() const { return recording_ != 0; }
  bool is_done() const { return done_; }
  // errno of the write that failed, or 0.
  int error() const { return error_; }
  // True if the file holds another recording that must not be replaced; only that recording can be
  // continued.
  bool goes_on_only() const { return goes_on_only_; }
  // The errno if the disk was full, after which only the tail is accepted, or 0.
  int full() const { return full_; }

 private:
  ArrivingFile(std::string name, UniqueFd fd) : name_(std::move(name)), fd_(std::move(fd)) {}
  Result<fkt_file_header> header() const;
  bool holds(std::uint64_t recording) const;
  int failed(int error);
  int make_room(std::uint64_t bytes);
  bool ends_with_a_page() const;

  std::string name_;
  UniqueFd fd_;
  bool done_ = false;
  std::uint64_t recording_ = 0;  // 0: no recording has arrived
  std::uint32_t page_bytes_ = 0;
  std::uint64_t bytes_ = 0;
  int error_ = 0, full_ = 0;
  bool goes_on_only_ = false;
  Preallocation space_{0, Preallocation::Size::stays};
};

}  // namespace fkt::receive
