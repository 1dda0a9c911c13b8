// SPDX-License-Identifier: GPL-2.0-only
// The page and its questions over HTTP, for the one who knows the token, on this machine only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/fkt_selection/api.h"
#include "lib/result.h"

namespace fkt::cli {

class Server {
 public:
  // `api` must outlive it, and so must the page's text.
  Server(const Api& api, std::string_view page, std::string token);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Takes a free port of 127.0.0.1, and answers on threads of its own from then on.
  Status start();
  void stop();

  // What a connection gets that sends these bytes; no start() is needed. For tests.
  std::string reply_to(std::string_view request);

  int port() const { return port_; }
  std::string url() const;

 private:
  struct Running;
  std::unique_ptr<Running> running_;
  std::string token_;
  int port_ = 0;
};

}  // namespace fkt::cli
