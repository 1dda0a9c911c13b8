// SPDX-License-Identifier: GPL-2.0-only
// Tests the arguments of system calls: names of values, flags, numbers among flags, forms of calls.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

#include "lib/format/call_arguments.h"

using namespace fkt;

namespace {

std::string shown(std::string_view call, const CallWords& words) {
  std::string text;
  for (const CallArgument& one : call_arguments(call, words)) {
    text.append(text.empty() ? "" : ", ").append(one.name).append("=").append(one.value);
  }
  return text;
}

constexpr std::uint64_t kCwd = static_cast<std::uint32_t>(AT_FDCWD);

}  // namespace

TEST_CASE("flags of a system call, and the number among them") {
  CHECK(shown("openat", {kCwd, 0x7f00, O_RDONLY | O_CLOEXEC, 0644}) ==
        "dfd=AT_FDCWD, filename=0x7f00, flags=O_RDONLY|O_CLOEXEC");
  CHECK(shown("openat", {3, 0, O_RDWR | O_CREAT | O_SYNC, 0644}) ==
        "dfd=3, filename=NULL, flags=O_RDWR|O_SYNC|O_CREAT, mode=0644");
  CHECK(shown("openat", {3, 0, O_TMPFILE | O_WRONLY, 0}) ==
        "dfd=3, filename=NULL, flags=O_WRONLY|O_TMPFILE, mode=000");
  // Bits without a name are shown as they are, and the upper half of an int is not its own.
  CHECK(shown("openat", {3, 0, 0xabcd'8000'0001}) ==
        "dfd=3, filename=NULL, flags=O_WRONLY|0x80000000");
  CHECK(shown("mmap", {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~0ULL, 0}) ==
        "addr=NULL, len=4096, prot=PROT_READ|PROT_WRITE, flags=MAP_PRIVATE|MAP_ANONYMOUS, fd=-1, "
        "pgoff=0");
  CHECK(shown("mprotect", {0x1000, 4096, PROT_NONE}) == "start=0x1000, len=4096, prot=PROT_NONE");
  CHECK(shown("shmget", {0x17, 8, 01600}) == "key=0x17, size=8, shmflg=IPC_CREAT|0600");
}

TEST_CASE("an argument tells which others a system call has") {
  CHECK(shown("futex", {0x7f00, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, 0, 5, 6}) ==
        "uaddr=0x7f00, op=FUTEX_WAIT|FUTEX_PRIVATE_FLAG, val=2, utime=NULL");
  CHECK(shown("futex", {0x7f00, FUTEX_WAKE_PRIVATE, 1, 7, 5, 6}) ==
        "uaddr=0x7f00, op=FUTEX_WAKE|FUTEX_PRIVATE_FLAG, val=1");
  CHECK(shown("fcntl", {3, F_GETFL, 99}) == "fd=3, cmd=F_GETFL");
  CHECK(shown("fcntl", {3, F_SETFL, O_NONBLOCK | O_RDWR}) ==
        "fd=3, cmd=F_SETFL, arg=O_RDWR|O_NONBLOCK");
  CHECK(shown("socket", {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 6}) ==
        "family=AF_INET, type=SOCK_STREAM|SOCK_CLOEXEC, protocol=IPPROTO_TCP");
  CHECK(shown("socket", {AF_UNIX, SOCK_DGRAM, 0}) == "family=AF_UNIX, type=SOCK_DGRAM, protocol=0");
  CHECK(shown("setsockopt", {3, SOL_SOCKET, SO_REUSEADDR, 0x7f00, 4}) ==
        "fd=3, level=SOL_SOCKET, optname=SO_REUSEADDR, optval=0x7f00, optlen=4");
}

TEST_CASE("numbers of system calls' arguments") {
  CHECK(shown("lseek", {3, static_cast<std::uint64_t>(-8), SEEK_END}) ==
        "fd=3, offset=-8, whence=SEEK_END");
  CHECK(shown("kill", {static_cast<std::uint32_t>(-1), SIGTERM}) == "pid=-1, sig=SIGTERM");
  CHECK(shown("getrusage", {static_cast<std::uint32_t>(-1), 0}) == "who=RUSAGE_CHILDREN, ru=NULL");
  CHECK(shown("prctl", {1000}) == "option=0x3e8, arg2=0, arg3=0, arg4=0, arg5=0");
  CHECK(shown("getpid", {1, 2}).empty());
  CHECK(shown("no_such_call", {1, 2}).empty());
}
