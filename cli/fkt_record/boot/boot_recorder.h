// SPDX-License-Identifier: GPL-2.0-only
// Recording from the machine's start. fkt_record --from-boot runs in an initramfs and goes on in
// the background, into a file in memory; fkt_record --boot ends it when there is a disk, and moves
// the file there.
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt::record {

// /run is mounted by the initramfs, and moved into the root that follows it.
inline constexpr const char* kBootFile = "/run/fkt/boot.fkt";
// Its write lock is held as long as the recorder from boot runs.
inline constexpr const char* kBootLock = "/run/fkt/boot.lock";
// The configuration on the kernel's command line: fkt.kft="...".
inline constexpr const char* kBootParameter = "/sys/module/fkt/parameters/kft";

// The part of fkt_record that began in an initramfs.
class BootRecorder {
 public:
  // Takes the lock. ready: closed when the recording runs, after one byte was written to it.
  static Result<BootRecorder> begin(UniqueFd ready);

  // Called once, when the recording runs. Messages go to the kernel's log from then on: the
  // console's readers come and go while a machine starts.
  void recording_runs();
  // Changes to the root directory of process 1, if that is another one. An initramfs is emptied
  // when the real root takes its place, but the root directory of its processes stays there. Does
  // nothing if it fails: what needs the files then tells so itself.
  void follow_root() const;

 private:
  BootRecorder() = default;

  UniqueFd ready_, lock_;
  UniqueFd proc_;  // /proc; it stays usable when it is moved to another root
};

}  // namespace fkt::record
