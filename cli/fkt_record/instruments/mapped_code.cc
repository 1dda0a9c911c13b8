// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/mapped_code.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace fkt::record {
namespace {

// The kernel calls it for all mappings, those of execve(2) and mprotect(2), too. 4: VM_EXEC. The
// path's device is that of the path's inode: of a file in an overlay, f_inode may be another one.
constexpr const char* kList =
    "? fn:perf_event_mmap:entry(begin=vma.vm_start:x, end=vma.vm_end:x, page=vma.vm_pgoff, "
    "dev=vma.vm_file.f_path.dentry.d_inode.i_sb.s_dev:dev, ino=vma:inode) "
    "if vma.vm_file != 0 && vma.vm_flags & 4\n";

bool is_stack(const Instrument& instrument) {
  return instrument.action.kind == Action::Kind::stack;
}

}  // namespace

bool records_stacks(std::span<const Instrument> instruments, std::span<const LayerFile> layers) {
  return std::ranges::any_of(instruments, is_stack) ||
         std::ranges::any_of(layers, [](const LayerFile& file) {
           return std::ranges::any_of(file.lines, is_stack, &LayerLine::instrument);
         });
}

bool can_record_mapped_code() {
  std::error_code error;
  return std::filesystem::exists("/sys/module/fkt_calls", error);
}

Result<LayerFile> mapped_code_list() {
  return LayerFile::parse(kList, "(mapped code)");
}

}  // namespace fkt::record
