// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/code_places.h"

#include <filesystem>

namespace fkt::record {

#ifdef FKT_WITHOUT_DECODER

struct CodePlaces::Code {};

Result<BlockPlaces> CodePlaces::find(const Place&, bool) {
  return Error{ErrorCode::usage,
               "this fkt_record is one file without the library that decodes instructions: blocks "
               "and lines can be recorded by an installed one alone"};
}

#else

struct CodePlaces::Code {
  explicit Code(CodeImage of) : image(std::move(of)) {}
  CodeImage image;
  SourceLines lines{image, true};
};

Result<BlockPlaces> CodePlaces::find(const Place& place, Splices splices) {
  if (!code_) code_ = std::make_unique<Code>(FKT_TRY(CodeImage::of_running_kernel()));
  if (!std::filesystem::exists("/sys/module/fkt_splices")) splices = Splices::none;
  return find_block_places(place, splices, code_->image, code_->lines);
}

#endif

CodePlaces::CodePlaces() = default;
CodePlaces::~CodePlaces() = default;

}  // namespace fkt::record
