// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/server.h"

#include <httplib.h>

#include <thread>

#include <fmt/core.h>

#include "lib/base/os_error.h"

namespace fkt::cli {
namespace {

constexpr const char* kAddress = "127.0.0.1";
// A browser keeps up to six connections open and each occupies a thread; enough for several pages.
constexpr std::size_t kThreads = 32;
constexpr time_t kKeepAliveSeconds = 1;         // an upper bound of the time stop() waits
constexpr std::size_t kLongestQuestion = 4096;  // bytes of a request's body; no request has one

// The page loads nothing from other hosts, and sends no referrer.
void set_headers(httplib::Response& response) {
  response.set_header("Content-Security-Policy",
                      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                      "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Cache-Control", "no-store");
}

// Compares in a time that does not depend on the contents, so that the token cannot be guessed step
// by step.
bool same(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); i++) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

Parameters parameters_of(const httplib::Request& request) {
  Parameters parameters;
  for (const auto& [name, value] : request.params) parameters[name] = value;
  return parameters;
}

}  // namespace

struct Server::Running {
  const Api& api;
  std::string_view page;
  httplib::Server http;
  std::jthread thread;

  // Checks the token. Returns true if the request may be answered; otherwise sets the response to
  // 403.
  bool admit(const httplib::Request& request, httplib::Response& response,
             std::string_view token) const {
    set_headers(response);
    if (request.matches.size() > 1 && same(request.matches[1].str(), token)) return true;
    response.status = 403;
    response.set_content("wrong token: use the address that fkt_selection printed\n", "text/plain");
    return false;
  }
  void answer(const httplib::Request& request, httplib::Response& response) const {
    Reply reply = api.answer(request.matches[2].str(), parameters_of(request));
    // The library sets 200, or 206 for the part of an answer that a request with "Range:" gets.
    if (reply.status != 200) response.status = reply.status;
    response.body = std::move(reply.body);  // set_content() would copy it
    response.set_header("Content-Type", reply.type);
  }
};

Server::Server(const Api& api, std::string_view page, std::string token)
    : running_(new Running{api, page, {}, {}}), token_(std::move(token)) {
  Running& running = *running_;
  running.http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  running.http.set_tcp_nodelay(true);
  running.http.set_keep_alive_timeout(kKeepAliveSeconds);
  running.http.set_payload_max_length(kLongestQuestion);
  running.http.Get(R"(/([^/]*)/)", [this](const auto& request, auto& response) {
    if (!running_->admit(request, response, token_)) return;
    response.set_content(running_->page.data(), running_->page.size(), "text/html; charset=utf-8");
  });
  running.http.Get(R"(/([^/]*)/api/([a-z]+))", [this](const auto& request, auto& response) {
    if (!running_->admit(request, response, token_)) return;
    // A request that writes a file needs POST, so that following a link does not trigger it.
    if (request.matches[2].str() == "extract" && request.has_param("run")) {
      response.status = 405;
      response.set_content("extract: run it with POST\n", "text/plain");
      return;
    }
    running_->answer(request, response);
  });
  running.http.Post(R"(/([^/]*)/api/(extract))", [this](const auto& request, auto& response) {
    if (running_->admit(request, response, token_)) running_->answer(request, response);
  });
  running.http.set_error_handler([](const auto&, auto& response) {
    if (!response.body.empty()) return;
    response.set_content("nothing is here\n", "text/plain");
  });
}

Server::~Server() {
  stop();
}

Status Server::start() {
  port_ = running_->http.bind_to_any_port(kAddress);
  if (port_ <= 0) return os_failure("127.0.0.1");
  running_->thread = std::jthread([this] { running_->http.listen_after_bind(); });
  while (!running_->http.is_running()) std::this_thread::yield();
  return Done{};
}

void Server::stop() {
  if (!running_->thread.joinable()) return;
  running_->http.stop();
  running_->thread.join();
}

std::string Server::url() const {
  return fmt::format("http://{}:{}/{}/", kAddress, port_, token_);
}

}  // namespace fkt::cli
