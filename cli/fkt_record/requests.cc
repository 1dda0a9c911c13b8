// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/requests.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "cli/base/messages.h"

namespace fkt::record {

Requests::Requests() {
  Result<UniqueFd> listen = listen_for_asks(::getpid());
  if (listen) {
    listen_ = std::move(*listen);
  } else {
    cli::warn(listen.error().message + " (SIGUSR1 asks for snapshots all the same)");
  }
}

std::optional<Requests::Request> Requests::take() {
  Request request;
  request.connection = UniqueFd(::accept4(listen_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!request.connection) return std::nullopt;
  const auto refuse = [&](const std::string& why) {
    send_answer(request.connection.get(), {false, why});
    return std::nullopt;
  };
  if (!may_ask(request.connection.get())) {
    return refuse("the recorder answers root and its own user only");
  }
  Result<ReceivedAsk> received = receive_ask(request.connection.get());
  if (!received) return refuse(received.error().message);
  request.received = std::move(*received);
  return request;
}

}  // namespace fkt::record
