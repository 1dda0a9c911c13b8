// SPDX-License-Identifier: GPL-2.0-only
// fkt_selection's server under libFuzzer: whatever a connection sends, it gets one whole answer:
// JSON, or one line that says what is wrong. An input that does not begin like a request is used as
// the part of a request after the token.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cassert>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/fkt_selection/server.h"
#include "lib/base/unique_fd.h"
#include "tests/golden/recordings.h"

namespace {

using namespace fkt::cli;

struct Served {
  Model model{std::move(*fkt::Recording::from_bytes(fkt::test::find_recording())), "find.fkt"};
  ExtractCommand extract_command{"find.fkt", "", 1e9};  // nothing is run
  Api api{model, extract_command};
  Server server{api, "<!doctype html>", "t"};
  Served() {
    model.start();
    model.wait();
    assert(server.start());
  }
  // What a connection gets that sends these bytes and nothing more.
  std::string reply_to(std::string_view request) const {
    const fkt::UniqueFd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    const int connected = ::connect(connection.get(), to, sizeof(address));
    assert(connected == 0);
    while (!request.empty()) {
      const ssize_t sent = ::send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;  // it was refused before its end
      request.remove_prefix(static_cast<std::size_t>(sent));
    }
    ::shutdown(connection.get(), SHUT_WR);
    std::string reply;
    char bytes[65536];
    for (ssize_t got = 0; (got = ::recv(connection.get(), bytes, sizeof(bytes), 0)) > 0;) {
      reply.append(bytes, static_cast<std::size_t>(got));
    }
    return reply;
  }
};

std::string request_of(std::string_view text) {
  for (const char* method : {"GET ", "POST ", "HEAD ", "PUT ", "OPTIONS "}) {
    if (text.starts_with(method)) return std::string(text);
  }
  return "GET /t/api/" + std::string(text) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Served served;
  const std::string request = request_of({reinterpret_cast<const char*>(data), size});
  const std::string reply = served.reply_to(request);
  if (reply.empty()) return 0;  // the connection was closed before a request was whole
  assert(reply.starts_with("HTTP/1.1 "));
  const int status = std::stoi(reply.substr(9, 3));
  static const std::set<int> kKnown = {100, 200, 206, 400, 403, 404, 405, 413, 414, 415, 416, 417};
  assert(kKnown.contains(status));
  const std::size_t body = reply.find("\r\n\r\n");
  assert(body != std::string::npos);
  const bool plain = status == 200 && reply.find("Content-Type: application/json") < body &&
                     reply.find("Content-Encoding:") > body && !request.starts_with("HEAD ");
  if (plain) assert(nlohmann::json::accept(reply.substr(body + 4)));
  return 0;
}
