// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_doctor/disk_speed.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "lib/base/unique_fd.h"

namespace fkt::doctor {
namespace {

constexpr std::size_t kPiece = 1 << 20;  // bytes of one write
constexpr std::size_t kAligned = 4096;   // of memory for direct writes

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};

// A file without a name in the folder, written past the page cache if the file system can.
UniqueFd open_unnamed(const std::filesystem::path& folder) {
  const int flags = O_TMPFILE | O_WRONLY | O_CLOEXEC;
  const int direct = ::open(folder.c_str(), flags | O_DIRECT, 0600);
  return UniqueFd(direct >= 0 ? direct : ::open(folder.c_str(), flags, 0600));
}

}  // namespace

double disk_speed(const std::filesystem::path& folder, std::uint64_t bytes) {
  const UniqueFd file = open_unnamed(folder);
  const std::unique_ptr<char, Free> piece(static_cast<char*>(std::aligned_alloc(kAligned, kPiece)));
  if (file.get() < 0 || !piece) return 0;
  for (std::size_t i = 0; i < kPiece; i++) piece.get()[i] = static_cast<char>(i * 31 >> 3);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t written = 0;
  while (written < bytes) {
    const ssize_t got = ::write(file.get(), piece.get(), kPiece);
    if (got <= 0) break;
    written += static_cast<std::uint64_t>(got);
  }
  if (::fdatasync(file.get()) != 0) return 0;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return took.count() > 0 ? static_cast<double>(written) / took.count() : 0;
}

Finding judge_speed(const std::filesystem::path& folder, double bytes_per_second,
                    std::uint64_t free_bytes) {
  // An event takes 8 bytes or more; with TIME words, page headers and arguments about 10.
  constexpr double kBytesPerEvent = 10, kBusy = 1e6;
  if (bytes_per_second <= 0) {
    return {Verdict::blocked, "disk", folder.string() + ": nothing can be written there",
            "cd to a folder of yours, or fkt_record -f FILE"};
  }
  const double rate = bytes_per_second / kBytesPerEvent;
  const std::string found =
      fmt::format("{:.0f} MB/s, enough for {:.1f} million events/s; {:.1f} GB free",
                  bytes_per_second / 1e6, rate / 1e6, static_cast<double>(free_bytes) / 1e9);
  if (rate < kBusy) {
    return {
        Verdict::note, "disk", found,
        "a busy CPU makes a million events/s: fkt_record -z, fewer layers (-k), or --flight SIZE"};
  }
  return {Verdict::good, "disk", found, ""};
}

}  // namespace fkt::doctor
