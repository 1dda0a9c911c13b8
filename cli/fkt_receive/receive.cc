// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_receive/receive.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_receive/arriving_file.h"
#include "cli/fkt_receive/server.h"
#include "lib/base/os_error.h"
#include "lib/record/disk_syncer.h"

namespace fkt::receive {
namespace {

Result<UniqueFd> end_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return os_failure("signals");
  return fd;
}

Result<remote::Token> choose_token(const Request& request, bool& fresh) {
  fresh = false;
  if (!request.token_file.empty()) return remote::Token::read(request.token_file);
  if (const char* text = std::getenv(remote::kTokenVariable)) {
    return remote::Token::of(text, remote::kTokenVariable);
  }
  fresh = true;
  return remote::Token::fresh();
}

// Size of the file in bytes. Called by the syncer's thread, so it asks the kernel and not the
// ArrivingFile.
std::uint64_t size_of(int fd) {
  struct stat is {};
  return ::fstat(fd, &is) == 0 ? static_cast<std::uint64_t>(is.st_size) : 0;
}

// The address under which other machines reach this one: 0.0.0.0 is replaced by the host name.
std::string reachable(const remote::Endpoint& at) {
  char name[256] = "";
  if (!at.is_any() || ::gethostname(name, sizeof name - 1) != 0) return at.text();
  return remote::Address{name, at.port()}.text();
}

// Prints the command for the recording machine on stdout.
Status tell_command(const remote::Endpoint& at, const remote::Token& token, bool fresh) {
  std::string line =
      std::string("fkt_record -f ") + std::string(remote::kScheme) + reachable(at) + " COMMAND\n";
  if (fresh) line = std::string(remote::kTokenVariable) + '=' + token.text() + ' ' + line;
  cli::ignore_sigpipe();
  const Result<bool> written = cli::put(line);
  return written ? Status(Done{}) : Status(written.error());
}

int tell_end(Server::End end, const Request& request, const ArrivingFile& file) {
  const std::string& name = file.name();
  if (end == Server::End::done) {
    if (file.full() != 0)
      cli::warn(name + ": " + os_error(file.full()) + ": the recording ended there");
    if (!request.quiet) {
      cli::warn(name + ": complete: " + cli::with_commas(file.pages()) + " pages, " +
                cli::bytes_text(file.bytes()));
    }
    return cli::kDone;
  }
  if (!file.is_begun()) {
    cli::warn("ended before a recording came");
    return cli::kFailed;
  }
  std::string why;
  switch (end) {
    case Server::End::aborted:
      cli::warn("there is no recording: fkt_record could not begin it");
      return cli::kFailed;
    case Server::End::failed:
      why = file.error() == EBADMSG ? "what came is no recording" : os_error(file.error());
      break;
    case Server::End::gone:
      why = "the sender did not come back";
      break;
    default:
      why = "ended before the recording was";
  }
  cli::warn(name + ": " + why + ": its end is missing; " + cli::bytes_text(file.bytes()) +
            " are there, which can be read up to the last whole page");
  return cli::kFailed;
}

}  // namespace

int receive(const Request& request) {
  bool fresh = false;
  const Result<remote::Token> token = choose_token(request, fresh);
  if (!token) return cli::fail(token.error());
  Result<std::vector<remote::Endpoint>> endpoints = remote::resolve(request.listen);
  if (!endpoints) return cli::fail(endpoints.error());
  Result<ArrivingFile> file = ArrivingFile::open(request.file, request.replace);
  if (!file) return cli::fail(file.error());
  if (file->goes_on_only()) {
    cli::warn(
        request.file +
        ": it holds a recording: only that one is taken (--force takes any and overwrites it)");
  }
  Result<UniqueFd> listener = remote::listen_at(endpoints->front());
  if (!listener) return cli::fail(listener.error());
  const Result<UniqueFd> stop = end_signals();
  if (!stop) return cli::fail(stop.error());

  const remote::Endpoint at = remote::local_endpoint(listener->get());
  if (!at.is_loopback()) {
    cli::warn(at.text() + " is open to other machines: the recording comes unencrypted");
  }
  if (!request.quiet)
    cli::warn("listening at " + at.text() + "; to be typed where it is recorded:");
  const Status told = tell_command(at, *token, fresh);
  if (!told) return cli::fail(told.error());

  const auto say = [&request](std::string_view line) {
    if (!request.quiet) cli::warn(line);
  };
  std::unique_ptr<DiskSyncer> syncer;
  if (request.sync.count() > 0) {
    const auto sync = [fd = file->fd()] { return ::fdatasync(fd) == 0 ? 0 : errno; };
    const auto written = [fd = file->fd()] { return size_of(fd); };
    auto started = DiskSyncer::start(sync, request.sync, written, [](std::uint64_t) {});
    if (!started) return cli::fail(started.error());
    syncer = std::move(*started);
  }
  const Result<Server::End> end =
      Server({*token, *file, request.wait, say}, std::move(*listener)).run(stop->get());
  const int sync_error = syncer ? syncer->stop() : 0;
  if (!end) return cli::fail(end.error());
  if (sync_error != 0) return cli::fail(os_failure(file->name() + ": fdatasync", sync_error));
  return tell_end(*end, request, *file);
}

}  // namespace fkt::receive
