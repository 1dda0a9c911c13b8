// SPDX-License-Identifier: GPL-2.0-only
// Serves the page and its requests over HTTP on 127.0.0.1, protected by a token.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/fkt_selection/api.h"
#include "lib/base/result.h"

namespace fkt::cli {

class Server {
 public:
  // `api` and the text of the page must outlive the server.
  Server(const Api& api, std::string_view page, std::string token);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds a free port of 127.0.0.1 and answers requests on threads of its own.
  Status start();
  void stop();

  int port() const { return port_; }
  std::string url() const;

 private:
  struct Running;
  std::unique_ptr<Running> running_;
  std::string token_;
  int port_ = 0;
};

}  // namespace fkt::cli
