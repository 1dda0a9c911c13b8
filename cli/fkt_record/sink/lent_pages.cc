// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sink/lent_pages.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "lib/base/os_error.h"

namespace fkt::record {
namespace {

// Makes an ioctl that has no effect when a signal interrupts it, so it can be repeated.
Status lend_call(int device, unsigned long request, fkt_lend& lend) {
  while (::ioctl(device, request, &lend) < 0) {
    if (errno != EINTR) return os_failure(FKT_DEVICE);
  }
  return Done{};
}

}  // namespace

void LentPages::Unmap::operator()(std::byte* data) const {
  ::munmap(data, bytes);
}

Result<LentPages> LentPages::map(int device, std::uint32_t page_bytes) {
  const std::size_t bytes = std::size_t{FKT_MAP_PAGES} * page_bytes;
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, device, 0);
  if (data == MAP_FAILED) return os_failure(FKT_DEVICE ": mapping its pages");
  return LentPages(device, page_bytes, Mapping(static_cast<std::byte*>(data), Unmap{bytes}));
}

Result<LentPages::Taken> LentPages::take(std::span<std::uint32_t> room) {
  fkt_lend lend{};
  lend.pages = reinterpret_cast<std::uintptr_t>(room.data());
  lend.count = static_cast<std::uint32_t>(room.size());
  FKT_TRY(lend_call(device_, FKT_TAKE, lend));
  return Taken{lend.count, (lend.flags & FKT_LEND_OVER) != 0};
}

LentPage LentPages::page(std::uint32_t number) const {
  const std::byte* begin = pages_.get() + std::size_t{number} * page_bytes_;
  return {number, {begin, page_bytes_}};
}

Status LentPages::give_back(std::span<const std::uint32_t> numbers, bool written) {
  if (numbers.empty()) return Done{};
  fkt_lend lend{};
  lend.pages = reinterpret_cast<std::uintptr_t>(numbers.data());
  lend.count = static_cast<std::uint32_t>(numbers.size());
  lend.flags = written ? 0 : FKT_LEND_UNWRITTEN;
  return lend_call(device_, FKT_GIVE, lend);
}

}  // namespace fkt::record
