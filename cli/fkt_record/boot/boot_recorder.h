// SPDX-License-Identifier: GPL-2.0-only
// Recording from the machine's start. fkt_record --from-boot runs in an initramfs and goes on in
// the background, into a file in memory; fkt_record --boot ends it when there is a disk, and moves
// the file there.
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt::record {

// The initramfs mounts /run and later moves it into the real root.
inline constexpr const char* kBootFile = "/run/fkt/boot.fkt";
// The recorder from boot holds a write lock on this file as long as it runs.
inline constexpr const char* kBootLock = "/run/fkt/boot.lock";
// The configuration on the kernel's command line: fkt.kft="...".
inline constexpr const char* kBootParameter = "/sys/module/fkt/parameters/kft";

// The additional work of fkt_record when it was started in an initramfs.
class BootRecorder {
 public:
  // Takes the lock. ready: write end of a pipe; go_on() writes one byte to it.
  static Result<BootRecorder> begin(UniqueFd ready);

  // Lets the machine's start continue, which waits for this. Called when the recording runs, or
  // waits for its begin; a second call does nothing. Further messages go to the kernel's log,
  // because the process that read them until now goes on with the start.
  void go_on();
  // Changes to the root directory of process 1, if that is another one. An initramfs is emptied
  // when the real root takes its place, but the root directory of its processes stays there. Errors
  // are ignored: opening files of the real root then fails, which is reported there.
  void follow_root() const;

 private:
  BootRecorder() = default;

  UniqueFd ready_, lock_;
  UniqueFd proc_;  // /proc; it stays usable when it is moved to another root
};

}  // namespace fkt::record
