// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/cover_device.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include <fmt/core.h>

#include "lib/base/os_error.h"

namespace fkt {
namespace {

Error about_cover(const std::string& text) {
  return {ErrorCode::io, FKT_COVER_DEVICE ": " + text};
}

Error cover_error(int number) {
  switch (number) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return about_cover("no such device (sudo modprobe fkt_splices)");
    case EACCES:
      return about_cover("permission denied (it takes root)");
    case EPERM:
      return about_cover("not permitted: it takes CAP_SYS_ADMIN, and a kernel without lockdown");
    default:
      return about_cover(os_error(number));
  }
}

}  // namespace

Result<CoverDevice> CoverDevice::open() {
  UniqueFd fd(::open(FKT_COVER_DEVICE, O_RDWR | O_CLOEXEC));
  if (!fd) return cover_error(errno);
  std::uint32_t abi = 0;
  if (::ioctl(fd.get(), FKT_GET_ABI, &abi) != 0) return cover_error(errno);
  if (abi != FKT_ABI_VERSION) {
    return about_cover(
        fmt::format("the ABI of the module that is loaded is {}, this tool's {} (after an upgrade: "
                    "sudo modprobe -r fkt_splices; sudo modprobe fkt_splices)",
                    abi, FKT_ABI_VERSION));
  }
  return CoverDevice(std::move(fd));
}

Result<std::uint32_t> CoverDevice::arm(std::span<const std::uint64_t> addresses) {
  fkt_cover cover{.addresses = reinterpret_cast<std::uintptr_t>(addresses.data()),
                  .count = static_cast<std::uint32_t>(addresses.size()),
                  .armed = 0};
  if (::ioctl(fd_.get(), FKT_COVER_ARM, &cover) != 0) return cover_error(errno);
  count_ = addresses.size();
  return cover.armed;
}

Result<std::string> CoverDevice::states() const {
  std::string states(count_, '\0');
  std::size_t got = 0;
  while (got < count_) {
    const auto bytes = ::pread(fd_.get(), &states[got], count_ - got, static_cast<off_t>(got));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return cover_error(bytes < 0 ? errno : EIO);
    got += static_cast<std::size_t>(bytes);
  }
  return states;
}

}  // namespace fkt
