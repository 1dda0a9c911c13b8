// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/module_watch.h"

#include <sys/socket.h>

#include <linux/netlink.h>

#include <cerrno>

namespace fkt::record {

bool is_of_module(std::string_view uevent) {
  const std::string_view head = uevent.substr(0, uevent.find('\0'));
  return head.starts_with("add@/module/") || head.starts_with("remove@/module/");
}

ModuleWatch::ModuleWatch()
    : socket_(
          ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT)) {
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = 1;  // the kernel's own messages
  if (socket_ &&
      ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    socket_ = UniqueFd();
  }
}

bool ModuleWatch::take() const {
  bool changed = false;
  for (;;) {
    char message[4096];
    sockaddr_nl from{};
    socklen_t size = sizeof from;
    const ssize_t bytes = ::recvfrom(socket_.get(), message, sizeof message, 0,
                                     reinterpret_cast<sockaddr*>(&from), &size);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == ENOBUFS) {
      changed = true;
      continue;
    }
    if (bytes < 0) return changed;
    const bool is_of_kernel = from.nl_pid == 0;
    if (is_of_kernel && is_of_module({message, static_cast<std::size_t>(bytes)})) changed = true;
  }
}

}  // namespace fkt::record
