// SPDX-License-Identifier: GPL-2.0-only
// Tests the transfer of a recording to another machine: whatever breaks, the file at the receiver
// equals the one sent, or both ends report how far it came.
#include <catch2/catch.hpp>
#include <random>

#include "cli/fkt_record/remote/remote_sink.h"
#include "lib/read/recording.h"
#include "lib/remote/message.h"
#include "tests/unit/cli/remote_harness.h"

using namespace fkt;
using namespace fkt::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using receive::ArrivingFile;
using record::RemoteLink;
using record::RemoteSink;
using End = receive::Server::End;

namespace {

RemoteLink::Plan plan_for(const Parcel& parcel, std::uint16_t port) {
  return {"tcp://there",           {loopback(port)},         test_token(),
          parcel.header.recording, parcel.header.page_bytes, 5s,
          [](std::string_view) {}};
}

Result<std::unique_ptr<RemoteLink>> connect_to(const Parcel& parcel, std::uint16_t port) {
  return RemoteLink::connect(plan_for(parcel, port));
}

void add_all(RemoteLink& link, const Parcel& parcel) {
  link.add(parcel.head());
  for (std::size_t i = 0; i < parcel.pages(); ++i) link.add_lent(parcel.page(i));
  link.add(parcel.tail());
  link.end(parcel.header.tail_offset);
}

// Sends the whole recording.
Status send_all(RemoteLink& link, const Parcel& parcel) {
  add_all(link, parcel);
  const Result<bool> sent = link.move_until([&link] { return link.is_done(); }, -1);
  if (!sent) return sent.error();
  link.bye();
  return Done{};
}

// A store that fails with ENOSPC after `room` bytes.
class SmallStore : public remote::Store {
 public:
  explicit SmallStore(std::size_t room) : room_(room) {}
  Begun begin(std::uint64_t, std::uint32_t) override { return {FKT_REMOTE_GOING, taken_, 0}; }
  int write(ByteView bytes) override {
    if (taken_ + bytes.size() > room_) return ENOSPC;
    taken_ += bytes.size();
    return 0;
  }
  int finish(std::uint64_t) override { return 0; }
  void abort() override {}
  std::size_t taken() const { return taken_; }

 private:
  std::size_t room_, taken_ = 0;
};

// A store that is full after `room` bytes and then still accepts the end of the file.
class ReservingStore : public remote::Store {
 public:
  explicit ReservingStore(std::size_t room) : room_(room) {}
  Begun begin(std::uint64_t, std::uint32_t) override {
    return {full_ ? FKT_REMOTE_FULL : FKT_REMOTE_GOING, text_.size(), full_ ? ENOSPC : 0};
  }
  int write(ByteView bytes) override {
    full_ = full_ || text_.size() + bytes.size() > room_;
    if (!full_ || refused_++ > 0) return text_ += as_text(bytes), 0;
    return ENOSPC;
  }
  bool has_reserve() const override { return full_; }
  int finish(std::uint64_t tail_offset) override { return tail_ = tail_offset, 0; }
  void abort() override {}
  const std::string& text() const { return text_; }
  std::uint64_t tail() const { return tail_; }
  bool full() const { return full_; }

 private:
  std::size_t room_;
  std::string text_;
  bool full_ = false;
  int refused_ = 0;
  std::uint64_t tail_ = 0;
};

struct TwoEnds {
  Folder folder;
  Parcel parcel;
  std::string name = folder.file("there.fkt");
  ArrivingFile file = std::move(*ArrivingFile::open(name, Replace::nothing));
};

// Checks that the receiver has everything and ends.
void check_arrived(Receiver& receiver, const TwoEnds& ends) {
  CHECK(receiver.end() == End::done);
  CHECK(contents(ends.name) == ends.parcel.text());
}

}  // namespace

TEST_CASE("a recording arrives as it was sent") {
  TwoEnds ends;
  Receiver receiver(ends.file, 5s, loopback_listener());
  auto link = connect_to(ends.parcel, receiver.port());
  REQUIRE(link);
  REQUIRE(send_all(**link, ends.parcel));
  check_arrived(receiver, ends);
  CHECK(ends.file.pages() == ends.parcel.pages());
  const auto trace = Recording::open(ends.name);
  REQUIRE(trace);
  CHECK(trace->integrity().finished);
  CHECK_FALSE(trace->integrity().index_rebuilt);
}

TEST_CASE("a line that breaks anywhere loses nothing") {
  const unsigned seed = GENERATE(range(0u, 12u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  TwoEnds ends;
  // The line breaks after the hello, so that each connection makes progress; often within a frame.
  std::vector<std::size_t> breaks;
  for (int i = 0; i < 25; ++i) breaks.push_back(89 + random() % (seed % 2 ? 12'000 : 60'000));
  breaks.push_back(std::size_t{1} << 40);
  Receiver receiver(ends.file, 5s, loopback_listener());
  BreakingLine line(receiver.port(), breaks);
  auto link = connect_to(ends.parcel, line.port());
  REQUIRE(link);
  REQUIRE(send_all(**link, ends.parcel));
  check_arrived(receiver, ends);
  CHECK_THAT(receiver.said(), Contains("the sender is back"));
}

TEST_CASE("the sink gives pages back when the other end has them, in order") {
  TwoEnds ends;
  Receiver receiver(ends.file, 5s, loopback_listener());
  auto link = connect_to(ends.parcel, receiver.port());
  REQUIRE(link);
  RemoteSink sink(std::move(*link), {ends.parcel.header.page_bytes});
  REQUIRE(sink.write_head(ends.parcel.head()));
  std::vector<std::uint32_t> done;
  std::uint32_t next = 0;
  while (done.size() < ends.parcel.pages()) {
    while (next < ends.parcel.pages() && sink.room() > 0) {
      const record::LentPage page{next, ends.parcel.page(next)};
      REQUIRE_FALSE(sink.put({&page, 1}));
      ++next;
    }
    std::vector<pollfd> fds;
    sink.wait_for(fds);
    REQUIRE(::poll(fds.data(), fds.size(), 10'000) > 0);
    REQUIRE_FALSE(sink.move(done));
  }
  for (std::uint32_t i = 0; i < done.size(); ++i) CHECK(done[i] == i);
  // The index equals the one that RecordingBuilder made for these pages.
  const SectionList tail =
      walk_sections(ends.parcel.file, ends.parcel.header.tail_offset, ends.parcel.file.size());
  Sections sections;
  unsigned indexes = 0;
  for (const Section& section : tail.sections) {
    sections.copy(section);
    if (section.header.type != FKT_SEC_INDEX) continue;
    indexes++;
    const Result<Payload> index = Payload::read(section);
    REQUIRE(index);
    const auto mine = sink.index();
    REQUIRE(index->bytes().size() == mine.size() * sizeof mine[0]);
    CHECK(std::memcmp(index->bytes().data(), mine.data(), index->bytes().size()) == 0);
  }
  CHECK(indexes == 1);
  REQUIRE(sink.write_tail(sections));
  check_arrived(receiver, ends);
}

TEST_CASE("the sink ends the recording at its limit, when all before it has arrived") {
  TwoEnds ends;
  Receiver receiver(ends.file, 5s, loopback_listener());
  auto link = connect_to(ends.parcel, receiver.port());
  REQUIRE(link);
  const std::uint32_t page_bytes = ends.parcel.header.page_bytes;
  RemoteSink sink(std::move(*link), {page_bytes, 3 * page_bytes + 100});
  REQUIRE(sink.write_head(ends.parcel.head()));
  REQUIRE(sink.room() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const record::LentPage page{i, ends.parcel.page(i)};
    REQUIRE_FALSE(sink.put({&page, 1}));
  }
  CHECK(sink.room() == 0);
  std::vector<std::uint32_t> done;
  record::SinkStatus ended;
  while (!ended) {
    std::vector<pollfd> fds;
    sink.wait_for(fds);
    REQUIRE(::poll(fds.data(), fds.size(), 10'000) > 0);
    ended = sink.move(done);
  }
  CHECK(ended->reason == FKT_STOP_LIMIT);
  CHECK(done.size() == 3);
  // The tail arrives as well.
  REQUIRE(sink.write_tail({}));
  CHECK(receiver.end() == End::done);
  CHECK(ends.file.pages() == 3);
}

TEST_CASE("a wrong token gets nothing, and stops nobody") {
  TwoEnds ends;
  Receiver receiver(ends.file, 5s, loopback_listener());
  RemoteLink::Plan plan = plan_for(ends.parcel, receiver.port());
  plan.token = test_token('b');
  const auto refused = RemoteLink::connect(plan);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Contains("tcp://there: the receiver has another token"));
  CHECK_FALSE(ends.file.is_begun());

  auto link = connect_to(ends.parcel, receiver.port());
  REQUIRE(link);
  REQUIRE(send_all(**link, ends.parcel));
  CHECK(receiver.end() == End::done);
  CHECK_THAT(receiver.said(), Contains("wrong token"));
}

TEST_CASE("who does not know the token cannot play the receiver") {
  // The impostor has the sender's hello and replies with the proof that it contains.
  const UniqueFd listener = loopback_listener();
  std::thread impostor([&listener] {
    pollfd one{listener.get(), POLLIN, 0};
    ::poll(&one, 1, -1);
    const remote::Accepted peer = remote::accept_from(listener.get());
    std::string text;
    remote::append_message(text, fkt_remote_challenge{FKT_REMOTE_MAGIC, FKT_REMOTE_VERSION, {}});
    (void)!::send(peer.fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    fkt_remote_hello hello{};
    one.fd = peer.fd.get();
    ::poll(&one, 1, -1);
    (void)!::recv(peer.fd.get(), &hello, sizeof hello, 0);
    fkt_remote_answer answer{FKT_REMOTE_MAGIC, FKT_REMOTE_GOING, 0, 0, 0, {}};
    std::ranges::copy(hello.proof, answer.proof);
    (void)!::send(peer.fd.get(), &answer, sizeof answer, MSG_NOSIGNAL);
    ::poll(&one, 1, -1);  // until the sender closes the connection
  });
  const auto link = connect_to(Parcel(), remote::local_endpoint(listener.get()).port());
  impostor.join();
  REQUIRE_FALSE(link);
  CHECK_THAT(link.error().message, Contains("does not know the token"));
}

TEST_CASE("nobody there, or somebody else, is said at once") {
  std::uint16_t port = 0;
  {
    const UniqueFd listener = loopback_listener();
    port = remote::local_endpoint(listener.get()).port();
  }
  const auto nobody = connect_to(Parcel(), port);
  REQUIRE_FALSE(nobody);
  CHECK_THAT(nobody.error().message, Contains("connection refused (fkt_receive must listen there"));

  for (const auto& [greeting, why] :
       {std::pair<std::string, const char*>{"SSH-2.0-OpenSSH_9.2\r\n", "it is no fkt_receive"},
        {std::string("FKTR\x07\0\0\0", 8), "version 7 of the protocol, not 2"}}) {
    const UniqueFd listener = loopback_listener();
    std::thread other([&listener, &greeting = greeting] {
      pollfd one{listener.get(), POLLIN, 0};
      ::poll(&one, 1, -1);
      const remote::Accepted peer = remote::accept_from(listener.get());
      (void)!::send(peer.fd.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL);
      one.fd = peer.fd.get();
      ::poll(&one, 1, -1);
    });
    const auto link = connect_to(Parcel(), remote::local_endpoint(listener.get()).port());
    other.join();
    REQUIRE_FALSE(link);
    CHECK_THAT(link.error().message, Contains(why));
  }
}

TEST_CASE("one receiver takes one recording") {
  TwoEnds ends;
  Receiver receiver(ends.file, 5s, loopback_listener());
  auto link = connect_to(ends.parcel, receiver.port());
  REQUIRE(link);
  RemoteLink::Plan other = plan_for(ends.parcel, receiver.port());
  other.recording ^= 1;
  const auto refused = RemoteLink::connect(other);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Contains("the receiver has another recording"));
  REQUIRE(send_all(**link, ends.parcel));
  CHECK(receiver.end() == End::done);
}

TEST_CASE("a sender's second connection takes the first one's place") {
  // As after a break that only the sender has noticed.
  TwoEnds ends;
  Receiver receiver(ends.file, 5s, loopback_listener());
  auto first = connect_to(ends.parcel, receiver.port());
  auto second = connect_to(ends.parcel, receiver.port());
  REQUIRE(first);
  REQUIRE(second);
  REQUIRE(send_all(**second, ends.parcel));
  check_arrived(receiver, ends);
  CHECK_THAT(receiver.said(), Contains("another connection"));
}

TEST_CASE("strangers who say nothing do not keep the sender out") {
  TwoEnds ends;
  Receiver receiver(ends.file, 5s, loopback_listener());
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 40; ++i) {
    auto fd = remote::start_connecting(loopback(receiver.port()));
    REQUIRE(fd);
    strangers.push_back(std::move(*fd));
  }
  auto link = connect_to(ends.parcel, receiver.port());
  REQUIRE(link);
  REQUIRE(send_all(**link, ends.parcel));
  CHECK(receiver.end() == End::done);
}

// Sends twenty pages and moves until the sink has ended. done: the pages that have arrived.
record::SinkStatus put_until_end(RemoteSink& sink, const Parcel& parcel,
                                 std::vector<std::uint32_t>& done) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    const record::LentPage page{i, parcel.page(i)};
    REQUIRE_FALSE(sink.put({&page, 1}));
  }
  record::SinkStatus ended;
  while (!ended) {
    std::vector<pollfd> fds;
    sink.wait_for(fds);
    REQUIRE(::poll(fds.data(), fds.size(), 10'000) > 0);
    ended = sink.move(done);
  }
  return ended;
}

TEST_CASE("a full disk at the other end is the recording's end, and both say so") {
  Parcel parcel;
  const std::size_t room = parcel.header.pages_offset + 5 * parcel.header.page_bytes + 77;
  SmallStore store(room);
  Receiver receiver(store, 5s, loopback_listener());
  auto link = connect_to(parcel, receiver.port());
  REQUIRE(link);
  RemoteSink sink(std::move(*link), {parcel.header.page_bytes});
  REQUIRE(sink.write_head(parcel.head()));
  std::vector<std::uint32_t> done;
  const record::SinkStatus ended = put_until_end(sink, parcel, done);
  CHECK(ended->reason == FKT_STOP_FULL);
  CHECK(ended->error == ENOSPC);
  CHECK_THAT(ended->message, Contains("tcp://there: the receiver cannot write its file: no space"));
  CHECK(done.size() == 5);
  CHECK(receiver.end() == End::failed);
  CHECK(store.taken() == parcel.header.pages_offset + 5 * parcel.header.page_bytes);
}

// Sends twenty pages to a disk with room for five and the tail. breaks: as in BreakingLine.
void fill_disk(std::vector<std::size_t> breaks) {
  Parcel parcel;
  const std::size_t five = parcel.header.pages_offset + 5 * parcel.header.page_bytes;
  ReservingStore store(five + 77);
  Receiver receiver(store, 5s, loopback_listener());
  BreakingLine line(receiver.port(), std::move(breaks));
  auto link = connect_to(parcel, line.port());
  REQUIRE(link);
  RemoteSink sink(std::move(*link), {parcel.header.page_bytes});
  REQUIRE(sink.write_head(parcel.head()));
  std::vector<std::uint32_t> done;
  const record::SinkStatus ended = put_until_end(sink, parcel, done);
  CHECK(ended->reason == FKT_STOP_FULL);
  CHECK(ended->error == ENOSPC);
  CHECK(ended->message == "the receiver cannot write its file: no space left on device");
  CHECK(done.size() == 5);
  CHECK(sink.index().size() == 5);
  CHECK(sink.takes_tail(*ended));
  Sections tail;
  REQUIRE(tail.add(FKT_SEC_TOTALS, "the totals"));
  REQUIRE(sink.write_tail(tail));
  CHECK(receiver.end() == End::done);
  CHECK(store.tail() == five);
  CHECK(store.text() ==
        parcel.head() +
            parcel.text().substr(parcel.header.pages_offset, five - parcel.header.pages_offset) +
            std::string(tail.bytes()));
}

TEST_CASE("a full disk at the other end has room for the recording's end") {
  fill_disk({1 << 30});
}

TEST_CASE("... also when the line breaks before that is known, or after") {
  Parcel parcel;
  const std::size_t page = parcel.header.page_bytes + sizeof(fkt_remote_frame);
  const std::size_t head = sizeof(fkt_remote_hello) + parcel.header.pages_offset +
                           sizeof(fkt_remote_frame) * (parcel.header.pages_offset / 65536 + 1);
  for (std::size_t pages = 4; pages < 9; pages++) fill_disk({head + pages * page, 100, 1 << 30});
}

TEST_CASE("a receiver that does not come back ends the recording after the time given") {
  Parcel parcel;
  SmallStore store(1 << 30);
  auto receiver = std::make_unique<Receiver>(store, 5s, loopback_listener());
  RemoteLink::Plan plan = plan_for(parcel, receiver->port());
  std::string said;
  plan.wait = 300ms;
  plan.say = [&said](std::string_view line) { said += std::string(line) + '\n'; };
  auto link = RemoteLink::connect(plan);
  REQUIRE(link);
  (*link)->add(parcel.head());
  REQUIRE((*link)->move_until([&] { return (*link)->acknowledged() == parcel.header.pages_offset; },
                              -1));
  receiver.reset();
  const auto begin = std::chrono::steady_clock::now();
  const Status sent = send_all(**link, parcel);
  REQUIRE_FALSE(sent);
  CHECK_THAT(sent.error().message,
             Contains("tcp://there: not reached for ") && Contains(" s (connection refused)"));
  CHECK_THAT(said, Contains("trying again for 1 s"));
  CHECK(std::chrono::steady_clock::now() - begin >= plan.wait);
  CHECK((*link)->acknowledged() == parcel.header.pages_offset);
}

TEST_CASE("a receiver that is started again goes on where its file ends") {
  TwoEnds ends;
  UniqueFd listener = loopback_listener();
  const std::uint16_t port = remote::local_endpoint(listener.get()).port();
  const bool keeps_file = GENERATE(true, false);
  CAPTURE(keeps_file);
  auto receiver = std::make_unique<Receiver>(ends.file, 5s, std::move(listener));
  auto link = connect_to(ends.parcel, port);
  REQUIRE(link);
  (*link)->add(ends.parcel.head());
  (*link)->add_lent(ends.parcel.page(0));
  const std::uint64_t sent = (*link)->added();
  REQUIRE((*link)->move_until([&] { return (*link)->acknowledged() == sent; }, -1));
  receiver.reset();

  const std::string name = keeps_file ? ends.name : ends.folder.file("other.fkt");
  ArrivingFile file = std::move(*ArrivingFile::open(name, Replace::nothing));
  auto at_port = remote::listen_at(loopback(port));
  REQUIRE(at_port);
  Receiver second(file, 5s, std::move(*at_port));
  for (std::size_t i = 1; i < ends.parcel.pages(); ++i) (*link)->add_lent(ends.parcel.page(i));
  (*link)->add(ends.parcel.tail());
  (*link)->end(ends.parcel.header.tail_offset);
  const auto done = (*link)->move_until([&] { return (*link)->is_done(); }, -1);
  if (keeps_file) {
    REQUIRE(done);
    (*link)->bye();
    CHECK(second.end() == End::done);
    CHECK(contents(name) == ends.parcel.text());
  } else {
    REQUIRE_FALSE(done);
    CHECK_THAT(done.error().message, Contains("it kept 0 bytes, and the rest is gone here too"));
  }
}

TEST_CASE("a recording that never began leaves no file") {
  TwoEnds ends;
  {
    Receiver receiver(ends.file, 5s, loopback_listener());
    auto link = connect_to(ends.parcel, receiver.port());
    REQUIRE(link);
    (*link)->add(ends.parcel.head());
    REQUIRE((*link)->move_until([&] { return (*link)->acknowledged() > 0; }, -1));
    (*link)->abort();
    CHECK(receiver.end() == End::aborted);
  }
  { const ArrivingFile gone = std::move(ends.file); }
  CHECK_FALSE(std::filesystem::exists(ends.name));
}

TEST_CASE("a sender that breaks off and does not return leaves what came") {
  TwoEnds ends;
  Receiver receiver(ends.file, 100ms, loopback_listener());
  {
    auto link = connect_to(ends.parcel, receiver.port());
    REQUIRE(link);
    (*link)->add(ends.parcel.head());
    (*link)->add_lent(ends.parcel.page(0));
    const std::uint64_t all = (*link)->added();
    REQUIRE((*link)->move_until([&] { return (*link)->acknowledged() == all; }, -1));
  }
  CHECK(receiver.end() == End::gone);
  CHECK(ends.file.pages() == 1);
  const auto trace = Recording::open(ends.name);
  REQUIRE(trace);
  CHECK_FALSE(trace->integrity().finished);
  CHECK(trace->pages().size() == 1);
}
