// SPDX-License-Identifier: GPL-2.0-only
// Both ends of a transfer on loopback: a receiver in a thread of its own, a line that breaks at
// given points, and a recording to send.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/fkt_receive/arriving_file.h"
#include "cli/fkt_receive/server.h"
#include "cli/fkt_record/remote/remote_link.h"
#include "lib/format/file_header.h"
#include "lib/format/sections.h"
#include "tests/unit/folder.h"
#include "tests/unit/recording_builder.h"

namespace fkt::test {

inline remote::Token test_token(char letter = 'a') {
  return std::move(*remote::Token::of(std::string(20, letter), "test"));
}

inline remote::Endpoint loopback(std::uint16_t port) {
  return remote::resolve({"127.0.0.1", port})->front();
}

inline UniqueFd loopback_listener() {
  return std::move(*remote::listen_at(loopback(0)));
}

inline std::string contents(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// A recording of about 60 pages, split into the parts in which it is sent.
struct Parcel {
  Bytes file;
  fkt_file_header header{};

  Parcel() {
    RecordingBuilder b;
    for (unsigned i = 0; i < 15'000; ++i) {
      b.event(i % 3, RecordingBuilder::kStart + i * 10, FKT_E_SYS_ENTRY, i % 300, {});
    }
    file = b.finish();
    header = *read_file_header(file);
  }
  // The head before the file is finished: without the pointer to the tail.
  std::string head() const {
    std::string text(as_text(subview(file, 0, header.pages_offset)));
    const std::uint64_t none = 0;
    std::memcpy(text.data() + offsetof(fkt_file_header, tail_offset), &none, sizeof none);
    return text;
  }
  std::size_t pages() const {
    return (header.tail_offset - header.pages_offset) / header.page_bytes;
  }
  ByteView page(std::size_t number) const {
    return subview(file, header.pages_offset + number * header.page_bytes, header.page_bytes);
  }
  std::string tail() const {
    return std::string(as_text(subview(file, header.tail_offset, ~0ULL)));
  }
  std::string text() const { return std::string(as_text(file)); }
};

// fkt_receive without its command line.
class Receiver {
 public:
  Receiver(remote::Store& store, std::chrono::nanoseconds wait, UniqueFd listener)
      : stop_(::eventfd(0, EFD_CLOEXEC)),
        port_(remote::local_endpoint(listener.get()).port()),
        server_({token_, store, wait, [this](std::string_view line) { say(line); }},
                std::move(listener)),
        thread_([this] { end_ = *server_.run(stop_.get()); }) {}
  ~Receiver() { stop(); }

  std::uint16_t port() const { return port_; }
  // Waits until the server ends by itself.
  receive::Server::End end() {
    if (thread_.joinable()) thread_.join();
    return end_;
  }
  receive::Server::End stop() {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    return end();
  }
  std::string said() const {
    const std::lock_guard lock(mutex_);
    return said_;
  }

 private:
  void say(std::string_view line) {
    const std::lock_guard lock(mutex_);
    said_ += std::string(line) + '\n';
  }

  remote::Token token_ = test_token();
  UniqueFd stop_;
  std::uint16_t port_;
  mutable std::mutex mutex_;
  std::string said_;
  receive::Server::End end_ = receive::Server::End::stopped;
  receive::Server server_;
  std::thread thread_;
};

// Forwards connections to a port. Each connection breaks after the given number of bytes towards
// the receiver; the last number applies to all further connections.
class BreakingLine {
 public:
  BreakingLine(std::uint16_t to, std::vector<std::size_t> breaks)
      : to_(to),
        breaks_(std::move(breaks)),
        listener_(loopback_listener()),
        stop_(::eventfd(0, EFD_CLOEXEC)),
        thread_([this] { run(); }) {}
  ~BreakingLine() {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
  std::uint16_t port() const { return remote::local_endpoint(listener_.get()).port(); }

 private:
  void run() {
    for (std::size_t next = 0;; ++next) {
      pollfd fds[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
      ::poll(fds, 2, -1);
      if (fds[1].revents) return;
      remote::Accepted near = remote::accept_from(listener_.get());
      Result<UniqueFd> far = remote::start_connecting(loopback(to_));
      if (!near.fd || !far) continue;
      join(near.fd.get(), far->get(), breaks_[std::min(next, breaks_.size() - 1)]);
    }
  }
  void join(int near, int far, std::size_t left) const {
    std::byte buffer[8192];
    for (;;) {
      pollfd fds[] = {{near, POLLIN, 0}, {far, POLLIN, 0}, {stop_.get(), POLLIN, 0}};
      ::poll(fds, 3, -1);
      if (fds[2].revents) return;
      if (fds[0].revents) {
        const ssize_t got = ::recv(near, buffer, std::min(sizeof buffer, left), 0);
        if (got <= 0 || !pass(far, buffer, static_cast<std::size_t>(got))) return;
        left -= static_cast<std::size_t>(got);
        if (left == 0) return;
      }
      if (fds[1].revents) {
        const ssize_t got = ::recv(far, buffer, sizeof buffer, 0);
        if (got <= 0 || !pass(near, buffer, static_cast<std::size_t>(got))) return;
      }
    }
  }
  static bool pass(int to, const std::byte* bytes, std::size_t size) {
    while (size > 0) {
      pollfd one{to, POLLOUT, 0};
      ::poll(&one, 1, -1);
      const ssize_t sent = ::send(to, bytes, size, MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) continue;
      if (sent <= 0) return false;
      bytes += sent;
      size -= static_cast<std::size_t>(sent);
    }
    return true;
  }

  std::uint16_t to_;
  std::vector<std::size_t> breaks_;
  UniqueFd listener_, stop_;
  std::thread thread_;
};

}  // namespace fkt::test
