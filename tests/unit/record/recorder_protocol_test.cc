// SPDX-License-Identifier: GPL-2.0-only
// Tests requests to a recorder: messages, and passing the file over a socket.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lib/record/output_file.h"
#include "lib/record/recorder_protocol.h"

using namespace fkt;
namespace fs = std::filesystem;

namespace {

class TempFile {
 public:
  TempFile() : fd_(::mkostemp(name_.data(), O_CLOEXEC)) {}
  ~TempFile() { fs::remove(name_); }
  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }

 private:
  std::string name_ = (fs::temp_directory_path() / "fkt-call-XXXXXX").string();
  UniqueFd fd_;
};

// Passes a file over a socket pair; returns what the recorder receives.
Result<ReceivedAsk> pass(int file, const RecorderAsk& ask = SnapshotAsk{1, "name"}) {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  const UniqueFd asker(ends[0]), recorder(ends[1]);
  REQUIRE(send_ask(asker.get(), ask, file));
  return receive_ask(recorder.get());
}

}  // namespace

TEST_CASE("messages come out as they went in") {
  for (const std::string name : {"snap", "a b  c", "/tmp/x\ty"}) {
    const Result<RecorderAsk> ask = parse_ask(to_message(SnapshotAsk{7'000'000'000'000, name}));
    REQUIRE(ask);
    CHECK(std::get<SnapshotAsk>(*ask).after_ns == 7'000'000'000'000);
    CHECK(std::get<SnapshotAsk>(*ask).name == name);
  }
  using Command = InstrumentsAsk::Command;
  for (const Command command : {Command::list, Command::add, Command::remove, Command::set,
                                Command::save, Command::results}) {
    const Result<RecorderAsk> ask = parse_ask(to_message(InstrumentsAsk{command}));
    REQUIRE(ask);
    CHECK(std::get<InstrumentsAsk>(*ask).command == command);
  }
  for (const bool done : {false, true}) {
    const auto answer = parse_answer(to_message(RecorderAnswer{done, "x: 1 events, 0 lost"}));
    REQUIRE(answer);
    CHECK(answer->done == done);
    CHECK(answer->line == "x: 1 events, 0 lost");
  }
}

TEST_CASE("messages that are none") {
  const std::string good = to_message(SnapshotAsk{5, "n"});
  REQUIRE(parse_ask(good));
  for (std::size_t size = 0; size < good.size(); size++)
    CHECK_FALSE(parse_ask(good.substr(0, size)));
  for (const char* bad :
       {"fkt-snapshot-2 5 n", "fkt-snapshot-1 -5 n", "fkt-snapshot-1 5x n",
        "fkt-snapshot-1 99999999999999999999 n", "fkt-snapshot-1 86400000000001 n",
        "fkt-snapshot-1  n", "fkt-instruments-1", "fkt-instruments-1 ", "fkt-instruments-1 lists",
        "fkt-instruments-1 list ", "fkt-instruments-2 list"}) {
    CHECK_FALSE(parse_ask(bad));
  }
  for (const char* bad : {"", "written", "done x", " x"}) CHECK_FALSE(parse_answer(bad));
}

TEST_CASE("an ask goes to the recorder with that pid, and its answer back") {
  CHECK_FALSE(connect_to_recorder(::getpid()));
  const Result<UniqueFd> listens = listen_for_asks(::getpid());
  REQUIRE(listens);
  CHECK_FALSE(listen_for_asks(::getpid()));
  const Result<UniqueFd> asker = connect_to_recorder(::getpid());
  REQUIRE(asker);
  const UniqueFd recorder(::accept4(listens->get(), nullptr, nullptr, SOCK_CLOEXEC));
  REQUIRE(recorder);
  CHECK(may_ask(recorder.get()));
  const TempFile file;
  REQUIRE(send_ask(asker->get(), SnapshotAsk{5, "snap"}, file.fd()));
  const Result<ReceivedAsk> received = receive_ask(recorder.get());
  REQUIRE(received);
  CHECK(std::get<SnapshotAsk>(received->ask).name == "snap");
  CHECK(std::get<SnapshotAsk>(received->ask).after_ns == 5);
  CHECK(::write(received->file.get(), "hello", 5) == 5);
  CHECK(fs::file_size(file.name()) == 5);
  CHECK((::fcntl(received->file.get(), F_GETFD) & FD_CLOEXEC) != 0);
  send_answer(recorder.get(), {true, "done"});
  CHECK(receive_answer(asker->get())->line == "done");
}

TEST_CASE("somebody else's socket of that name is not the recorder") {
  // This process listens on the address for its child's pid.
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  REQUIRE(child > 0);
  const Result<UniqueFd> listens = listen_for_asks(child);
  const Result<UniqueFd> connected = connect_to_recorder(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  REQUIRE(listens);
  REQUIRE_FALSE(connected);
  CHECK_THAT(connected.error().message, Catch::Contains("connection refused"));
}

TEST_CASE("a recorder that refuses at once, or ends, is understood") {
  for (const bool answers : {true, false}) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    const UniqueFd asker(ends[0]);
    UniqueFd recorder(ends[1]);
    const TempFile file;
    // The recorder closes the connection without reading the request.
    REQUIRE(send_ask(asker.get(), SnapshotAsk{5, "snap"}, file.fd()));
    if (answers) send_answer(recorder.get(), {false, "busy"});
    recorder.reset();
    const Result<RecorderAnswer> answer = receive_answer(asker.get());
    REQUIRE(static_cast<bool>(answer) == answers);
    if (answers) CHECK(answer->line == "busy");
    if (!answers) CHECK_THAT(answer.error().message, Catch::Contains("ended before"));
  }
}

TEST_CASE("only a regular file that can be read and written is taken") {
  const TempFile file;
  REQUIRE(pass(file.fd()));
  for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR | O_APPEND}) {
    const UniqueFd other(::open(file.name().c_str(), flags | O_CLOEXEC));
    CHECK_FALSE(pass(other.get()));
  }
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  CHECK_FALSE(pass(null.get()));
  CHECK_FALSE(send_ask(file.fd(), SnapshotAsk{1, std::string(10'000, 'x')}, file.fd()));
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  const UniqueFd asker(ends[0]), recorder(ends[1]);
  const std::string bare = to_message(SnapshotAsk{1, "n"});
  REQUIRE(::send(asker.get(), bare.data(), bare.size(), 0) > 0);
  CHECK_FALSE(receive_ask(recorder.get()));
}

TEST_CASE("what is in a file is overwritten only when told to, but for the default name") {
  const TempFile file;
  CHECK(open_output_file(file.name(), Replace::nothing));  // empty
  std::ofstream(file.name()) << "precious";
  CHECK_FALSE(open_output_file(file.name(), Replace::nothing));
  CHECK_FALSE(open_output_file(file.name(), Replace::recordings));
  CHECK(open_output_file(file.name(), Replace::anything));
  CHECK(fs::file_size(file.name()) == 8);  // not changed yet
  std::ofstream(file.name()) << "FKTTRACE...";
  CHECK_FALSE(open_output_file(file.name(), Replace::nothing));
  CHECK(open_output_file(file.name(), Replace::recordings));
  CHECK(open_output_file(file.name(), Replace::anything));
  CHECK_FALSE(open_output_file("/dev/null", Replace::anything));
  CHECK_FALSE(open_output_file("/nonexistent/x", Replace::anything));
  CHECK_FALSE(open_output_file(fs::temp_directory_path().string(), Replace::anything));
}
