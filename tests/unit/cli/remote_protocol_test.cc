// SPDX-License-Identifier: GPL-2.0-only
// Tests the receiver's parsing of bytes, the file that it writes, and the parsing of tokens,
// addresses and options.
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "cli/fkt_receive/request.h"
#include "lib/format/file_writer.h"
#include "lib/remote/message.h"
#include "tests/unit/cli/remote_harness.h"

using namespace fkt;
using namespace fkt::test;
using Catch::Matchers::Contains;
using receive::ArrivingFile;
using remote::Incoming;
using Phase = Incoming::Phase;

namespace {

class Memory : public remote::Store {
 public:
  Begun begin(std::uint64_t, std::uint32_t) override { return {}; }
  int write(ByteView bytes) override {
    text += as_text(bytes);
    return 0;
  }
  int finish(std::uint64_t at) override { return at > text.size() ? EBADMSG : 0; }
  void abort() override { text.clear(); }

  std::string text;
};

// A connection whose sender has proven that it knows the token.
struct Open {
  Memory store;
  remote::Token token = test_token();
  remote::Nonce challenge{1, 2, 3};
  Incoming incoming{token, challenge, store};

  std::string hello(const remote::Token& by, std::uint32_t page_bytes = 4096) const {
    fkt_remote_hello message{FKT_REMOTE_MAGIC, FKT_REMOTE_VERSION, 7, page_bytes, 0, {9}, {}};
    remote::prove(by, challenge, message);
    std::string text;
    remote::append_message(text, message);
    return text;
  }
  bool take(std::string_view text) { return incoming.take(std::as_bytes(std::span(text))); }
  bool open() {
    (void)incoming.take_answers();
    return take(hello(token)) && incoming.take_answers().size() == sizeof(fkt_remote_answer);
  }
};

std::string frame(fkt_remote_frame_type type, std::uint64_t offset, std::string_view payload) {
  std::string text;
  remote::append_message(text, remote::make_frame(type, offset, std::as_bytes(std::span(payload))));
  return text + std::string(payload);
}

std::string end_frame(std::uint64_t offset, std::uint64_t tail) {
  return frame(FKT_REMOTE_END, offset, {reinterpret_cast<const char*>(&tail), sizeof tail});
}

fkt_remote_ack last_ack(const std::string& answers) {
  fkt_remote_ack ack{};
  std::memcpy(&ack, answers.data() + answers.size() - sizeof ack, sizeof ack);
  return ack;
}

}  // namespace

TEST_CASE("frames are written and acknowledged, however they are cut into pieces") {
  const std::size_t step = GENERATE(1, 7, 24, 1000);
  Open peer;
  REQUIRE(peer.open());
  const std::string bytes =
      frame(FKT_REMOTE_DATA, 0, "hello ") + frame(FKT_REMOTE_DATA, 6, "world") + end_frame(11, 6);
  std::string answers;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    REQUIRE(peer.take(bytes.substr(at, step)));
    answers += peer.incoming.take_answers();
  }
  CHECK(peer.store.text == "hello world");
  CHECK(peer.incoming.phase() == Phase::done);
  CHECK(last_ack(answers).status == FKT_REMOTE_DONE);
  CHECK(last_ack(answers).offset == 11);
  // The end may be sent again if its ack was lost; then BYE.
  CHECK(peer.take(end_frame(11, 6)));
  CHECK(last_ack(peer.incoming.take_answers()).status == FKT_REMOTE_DONE);
  CHECK_FALSE(peer.take(frame(FKT_REMOTE_BYE, 11, "")));
  CHECK(peer.incoming.phase() == Phase::bye);
}

TEST_CASE("before the proof nothing is believed") {
  Open peer;
  CHECK(peer.incoming.take_answers().size() == sizeof(fkt_remote_challenge));
  std::string why;
  SECTION("a wrong token") {
    CHECK_FALSE(peer.take(peer.hello(test_token('b'))));
    fkt_remote_answer answer{};
    const std::string answers = peer.incoming.take_answers();
    REQUIRE(answers.size() == sizeof answer);
    std::memcpy(&answer, answers.data(), sizeof answer);
    CHECK(answer.status == FKT_REMOTE_DENIED);
    // A peer without proof gets no proof from the receiver, which it could use to guess the token
    // offline.
    CHECK(std::ranges::count(answer.proof, 0) == FKT_REMOTE_PROOF_BYTES);
    why = "wrong token";
  }
  SECTION("a hello that was changed on its way") {
    std::string hello = peer.hello(peer.token);
    hello[8] ^= 1;  // the id of the recording
    CHECK_FALSE(peer.take(hello));
    why = "wrong token";
  }
  SECTION("a hello heard on another connection") {
    const std::string old = peer.hello(peer.token);
    Memory store;
    Incoming other(peer.token, {4, 5, 6}, store);
    CHECK_FALSE(other.take(std::as_bytes(std::span(old))));
    CHECK(other.fault() == "wrong token");
    return;
  }
  SECTION("another version") {
    CHECK_FALSE(peer.take(std::string("FKTR\x07\0\0\0", 8)));
    why = "version 7 of the protocol, not 2";
  }
  SECTION("a browser") {
    CHECK_FALSE(peer.take("GET / HTTP/1.1\r\n"));
    why = "it is no fkt_record";
  }
  SECTION("pages of an impossible size") {
    CHECK_FALSE(peer.take(peer.hello(peer.token, 5000)));
    why = "pages of 5000 bytes";
  }
  CHECK_THAT(peer.incoming.fault(), Contains(why));
  CHECK(peer.incoming.phase() == Phase::dropped);
  CHECK_FALSE(peer.incoming.is_open());
}

TEST_CASE("a frame that is not what it should be ends the connection, and is not written") {
  Open peer;
  REQUIRE(peer.open());
  REQUIRE(peer.take(frame(FKT_REMOTE_DATA, 0, "good")));
  std::string bad = frame(FKT_REMOTE_DATA, 4, "bad");
  std::string why;
  SECTION("longer than any may be") {
    fkt_remote_frame header = remote::make_frame(FKT_REMOTE_DATA, 4, {});
    header.bytes = GENERATE(FKT_REMOTE_FRAME_MOST + 1, 0xffffffffu);
    bad.assign(reinterpret_cast<const char*>(&header), sizeof header);
    why = "a frame of " + std::to_string(header.bytes) + " bytes";
  }
  SECTION("changed") {
    bad.back() ^= 1;
    why = "checksum";
  }
  SECTION("its header changed") {
    bad[8] ^= 1;
    why = "checksum";
  }
  SECTION("for another place") {
    bad = frame(FKT_REMOTE_DATA, 5, "bad");
    why = "another place";
  }
  SECTION("of an unknown type") {
    bad = frame(static_cast<fkt_remote_frame_type>(99), 4, "bad");
    why = "type 99";
  }
  SECTION("no frame") {
    bad = std::string(24, 'x');
    why = "no frame";
  }
  SECTION("an end of another size") {
    bad = frame(FKT_REMOTE_END, 4, "1234");
    why = "an end of 4 bytes";
  }
  SECTION("leaving before the end") {
    bad = frame(FKT_REMOTE_BYE, 4, "");
    why = "before the end";
  }
  CHECK_FALSE(peer.take(bad));
  CHECK_THAT(peer.incoming.fault(), Contains(why));
  CHECK(peer.store.text == "good");
  CHECK_FALSE(peer.take(frame(FKT_REMOTE_DATA, 4, "more")));
  CHECK(peer.store.text == "good");
}

TEST_CASE("the arriving file checks what it is told of its end") {
  const Folder folder;
  const Parcel parcel;
  ArrivingFile file = std::move(*ArrivingFile::open(folder.file("a.fkt"), Replace::nothing));
  REQUIRE(file.begin(parcel.header.recording, parcel.header.page_bytes).offset == 0);
  REQUIRE(file.write(as_bytes(parcel.head())) == 0);
  REQUIRE(file.write(parcel.page(0)) == 0);
  const std::uint64_t end = parcel.header.pages_offset + parcel.header.page_bytes;
  CHECK(file.pages() == 1);
  SECTION("a tail behind the file") {
    CHECK(file.finish(end + 4096) == EBADMSG);
  }
  SECTION("a tail within a page") {
    CHECK(file.finish(end - 8) == EBADMSG);
  }
  SECTION("a tail before the pages") {
    CHECK(file.finish(8) == EBADMSG);
  }
  SECTION("a tail where it can be") {
    CHECK(file.finish(end) == 0);
  }
}

TEST_CASE("the arriving file is nobody else's") {
  const Folder folder;
  const Parcel parcel;
  const std::string name = folder.file("thesis");
  std::ofstream(name) << "my thesis";
  const auto refused = ArrivingFile::open(name, Replace::nothing);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Contains("it exists and is no FKT file (--force"));
  CHECK(contents(name) == "my thesis");
  CHECK(ArrivingFile::open(name, Replace::anything));
  CHECK_FALSE(ArrivingFile::open("/dev/null", Replace::nothing));

  ArrivingFile file = std::move(*ArrivingFile::open(folder.file("a.fkt"), Replace::nothing));
  using Status = fkt_remote_status;
  CHECK(file.begin(5, 4096).status == Status::FKT_REMOTE_GOING);
  CHECK(file.begin(6, 4096).status == Status::FKT_REMOTE_BUSY);
  CHECK(file.finish(0) == EBADMSG);  // EBADMSG because the file is empty
  CHECK(file.begin(5, 4096).status == Status::FKT_REMOTE_FAILED);
}

TEST_CASE("a recording that arrived is gone on with, and no other one takes its place") {
  const Folder folder;
  const Parcel parcel;
  const std::string name = folder.file("a.fkt"), head = parcel.head();
  const std::uint64_t recording = parcel.header.recording;
  const std::uint32_t page_bytes = parcel.header.page_bytes;
  using Status = fkt_remote_status;
  {
    ArrivingFile file = std::move(*ArrivingFile::open(name, Replace::nothing));
    REQUIRE(file.begin(recording, page_bytes).status == Status::FKT_REMOTE_GOING);
    REQUIRE(file.write(as_bytes(head).first(4096)) == 0);
  }
  const std::string had = contents(name);
  {
    ArrivingFile file = std::move(*ArrivingFile::open(name, Replace::nothing));
    CHECK(file.goes_on_only());
    CHECK(file.begin(recording + 1, page_bytes).status == Status::FKT_REMOTE_BUSY);
    CHECK(file.begin(recording, page_bytes).offset == 4096);
  }
  CHECK(contents(name) == had);
  for (const Replace replace : {Replace::recordings, Replace::anything}) {
    ArrivingFile file = std::move(*ArrivingFile::open(name, replace));
    CHECK_FALSE(file.goes_on_only());
  }
  ArrivingFile file = std::move(*ArrivingFile::open(name, Replace::recordings));
  CHECK(file.begin(recording + 1, page_bytes).offset == 0);
}

TEST_CASE("the arriving file keeps what it said it has when the disk is full") {
  const Folder folder;
  const Parcel parcel;
  ArrivingFile file = std::move(*ArrivingFile::open(folder.file("a.fkt"), Replace::nothing));
  REQUIRE(file.begin(parcel.header.recording, parcel.header.page_bytes).offset == 0);
  REQUIRE(file.write(as_bytes(parcel.head())) == 0);

  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{parcel.header.pages_offset + 100, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const int error = file.write(parcel.page(0));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);

  CHECK(error == EFBIG);
  CHECK(file.bytes() == parcel.header.pages_offset);
  CHECK(std::filesystem::file_size(file.name()) == file.bytes());
}

TEST_CASE("tokens are long, and what stands round them is none of theirs") {
  CHECK(remote::Token::fresh()->text().size() == 32);
  CHECK(remote::Token::fresh()->text() != remote::Token::fresh()->text());
  CHECK(remote::Token::of(" \t0123456789abcdef\r\n", "x")->text() == "0123456789abcdef");
  for (const char* text : {"", "   \n", "0123456789abcde", "  0123456789abcde  "}) {
    const auto token = remote::Token::of(text, "FKT_TOKEN");
    REQUIRE_FALSE(token);
    CHECK(token.error().message ==
          "FKT_TOKEN: a token has at least 16 characters (fkt_receive makes a good one)");
  }
  for (const std::string& text : {std::string(64, '\0'), std::string("0123456789abcdef\n0123"),
                                  std::string("0123456789abcdef\x7f"
                                              "0123")}) {
    const auto token = remote::Token::of(text, "FKT_TOKEN");
    REQUIRE_FALSE(token);
    CHECK(token.error().message == "FKT_TOKEN: a token is printable text in one line");
  }
  const Folder folder;
  std::ofstream(folder.file("token")) << "0123456789abcdef\n";
  CHECK(remote::Token::read(folder.file("token"))->text() == "0123456789abcdef");
  CHECK_THAT(remote::Token::read(folder.file("none")).error().message,
             Contains("no such file or directory"));
}

TEST_CASE("addresses") {
  const auto [text, host, port] = GENERATE(table<const char*, const char*, unsigned>({
      {"127.0.0.1", "127.0.0.1", FKT_REMOTE_PORT},
      {"127.0.0.1:0", "127.0.0.1", 0},
      {"host.example:65535", "host.example", 65535},
      {"[::1]", "::1", FKT_REMOTE_PORT},
      {"[::1]:80", "::1", 80},
  }));
  const auto address = remote::parse_address("--listen", text);
  REQUIRE(address);
  CHECK(address->host == host);
  CHECK(address->port == port);
  for (const char* bad : {"", ":80", "host:", "host:port", "host:65536", "host:-1", "::1", "[::1",
                          "[]:1", "[::1]80", "a:1:2", "host:80 "}) {
    CAPTURE(bad);
    const auto refused = remote::parse_address("--listen", bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::usage);
  }
  CHECK(remote::resolve({"127.0.0.1", 80})->front().text() == "127.0.0.1:80");
  CHECK(remote::resolve({"::1", 80})->front().text() == "[::1]:80");
  CHECK(remote::resolve({"::1", 80})->front().is_loopback());
  CHECK(remote::resolve({"127.3.2.1", 80})->front().is_loopback());
  CHECK_FALSE(remote::resolve({"0.0.0.0", 80})->front().is_loopback());
  CHECK(remote::resolve({"0.0.0.0", 80})->front().is_any());
  CHECK(remote::resolve({"::", 80})->front().is_any());
}

TEST_CASE("fkt_receive listens to this machine alone, unless told otherwise") {
  const auto parse = [](std::vector<const char*> words) {
    words.insert(words.begin(), "fkt_receive");
    return receive::parse_command_line(static_cast<int>(words.size()), words.data());
  };
  const auto plain = parse({});
  REQUIRE(plain.request);
  CHECK(plain.request->listen.text() == "127.0.0.1:14358");
  CHECK(plain.request->wait == std::chrono::minutes(1));
  const auto all = parse({"--listen", "0.0.0.0:99", "-o", "x", "--wait=5s", "--sync", "0", "-q"});
  REQUIRE(all.request);
  CHECK(all.request->listen.text() == "0.0.0.0:99");
  CHECK(all.request->file == "x");
  CHECK(all.request->wait == std::chrono::seconds(5));
  CHECK(all.request->sync.count() == 0);
  CHECK(all.request->quiet);
  CHECK(parse({"--listen", "nowhere:x"}).status == 2);
  CHECK(parse({"--wait", "long"}).status == 2);
  CHECK(parse({"extra"}).status == 2);
}
