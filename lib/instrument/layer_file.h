// SPDX-License-Identifier: GPL-2.0-only
// A layer file: the instruments of a layer, one per line.
//
//   # What a file is read for.
//   layer fs
//   call:vfs_read(count) ret
//   call:vfs_splice_read(len) ret
//   or call:do_splice_to(len) ret     # only where the kernel lacks the place of the line before
//   ? tp:ext4:ext4_da_write_begin     # nothing is said if the kernel lacks it
//
// "#" begins a comment, at a line's begin or behind a blank.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/instrument.h"

namespace fkt {

struct LayerLine {
  Instrument instrument;
  std::size_t number = 0;       // in the file, from 1
  bool may_be_missing = false;  // nothing is said if the kernel lacks its place
  bool is_alternative = false;  // to the line before
};

struct LayerFile {
  std::string path;
  // The layer whose bit in the mask switches its instruments.
  std::string layer = "instruments";
  unsigned bit = 0;
  std::vector<LayerLine> lines;

  // Parses the text of a layer file. path: of the file, for messages. Error (usage):
  // "PATH:LINE:COLUMN: ..." with what was expected there.
  static Result<LayerFile> parse(std::string_view text, const std::string& path);
};

}  // namespace fkt
