// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/wait/recorder_asks.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "cli/base/messages.h"

namespace fkt::record {

RecorderAsks::RecorderAsks() {
  Result<UniqueFd> listen = listen_for_asks(::getpid());
  if (listen) {
    listen_ = std::move(*listen);
  } else {
    cli::warn(listen.error().message + " (SIGUSR1 asks for snapshots all the same)");
  }
}

std::optional<RecorderAsks::Ask> RecorderAsks::take() {
  Ask ask;
  ask.connection = UniqueFd(::accept4(listen_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!ask.connection) return std::nullopt;
  const auto refuse = [&](const std::string& why) {
    send_answer(ask.connection.get(), {false, why});
    return std::nullopt;
  };
  if (!may_ask(ask.connection.get())) {
    return refuse("the recorder answers root and its own user only");
  }
  Result<ReceivedAsk> received = receive_ask(ask.connection.get());
  if (!received) return refuse(received.error().message);
  ask.received = std::move(*received);
  return ask;
}

}  // namespace fkt::record
