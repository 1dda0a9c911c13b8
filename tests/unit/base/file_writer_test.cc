// SPDX-License-Identifier: GPL-2.0-only
// Tests that the reader can read what the writer has written.
#include "lib/format/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstring>

#include "lib/base/crc32.h"
#include "lib/base/unique_fd.h"
#include "lib/base/write_file.h"
#include "lib/format/sections.h"

using namespace fkt;

namespace {

fkt_file_header header_of(const std::string& file) {
  fkt_file_header header{};
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

std::string written_to(int fd) {
  std::string text(1 << 20, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  REQUIRE(got >= 0);
  text.resize(static_cast<std::size_t>(got));
  return text;
}

UniqueFd temporary_file() {
  char name[] = "/tmp/fkt-test-XXXXXX";
  UniqueFd fd(::mkstemp(name));
  REQUIRE(fd);
  ::unlink(name);
  return fd;
}

}  // namespace

TEST_CASE("sections come back, small ones as they are, large ones packed") {
  const std::string large(100'000, 'x');
  Sections sections;
  REQUIRE(sections.add(FKT_SEC_MACHINE, "{}"));
  REQUIRE(sections.add(FKT_SEC_SYMBOLS, large));
  REQUIRE(sections.add(FKT_SEC_TASKS, ""));
  CHECK(sections.bytes().size() < 1000);

  const ByteView bytes = as_bytes(sections.bytes());
  const SectionList list = walk_sections(bytes, 0, bytes.size());
  REQUIRE(list.sections.size() == 4);
  CHECK(list.end == bytes.size());
  CHECK(list.cut_off == 0);
  CHECK(list.sections[0].header.type == FKT_SEC_MACHINE);
  CHECK(list.sections[0].header.flags == FKT_SECTION_CHECKED);
  CHECK(Payload::read(list.sections[0])->text() == "{}");
  CHECK(list.sections[1].header.flags == (FKT_SECTION_CHECKED | FKT_SECTION_ZSTD));
  CHECK(Payload::read(list.sections[1])->text() == large);
  CHECK(Payload::read(list.sections[2])->text().empty());
  CHECK(list.sections[3].header.type == FKT_SEC_END);
  CHECK(check_section(list.sections[3]));

  const SectionList closed = walk_sections(bytes, 0, bytes.size(), Closing::expected);
  CHECK(closed.sections.size() == 3);
  CHECK(closed.end == bytes.size());
  CHECK(closed.faults.empty());
}

TEST_CASE("sections that are known later go where the closing one stood") {
  Sections before, later;
  REQUIRE(before.add(FKT_SEC_MACHINE, "{}"));
  REQUIRE(later.add(FKT_SEC_CLOCKS, "{}"));
  std::string bytes = before.bytes();
  bytes.replace(before.next_offset(), later.bytes().size(), later.bytes());
  const SectionList list = walk_sections(as_bytes(bytes), 0, bytes.size(), Closing::expected);
  CHECK(list.faults.empty());
  REQUIRE(list.sections.size() == 2);
  CHECK(list.sections[0].header.type == FKT_SEC_MACHINE);
  CHECK(list.sections[1].header.type == FKT_SEC_CLOCKS);
}

TEST_CASE("the head says where the pages start, for direct I/O") {
  Sections sections;
  REQUIRE(sections.add(FKT_SEC_MACHINE, "{}"));
  const std::string head = file_head(0x1234, 16384, sections);
  fkt_file_header header = header_of(head);
  CHECK(std::memcmp(header.magic, FKT_FILE_MAGIC, 8) == 0);
  CHECK(header.recording == 0x1234);
  CHECK(header.page_bytes == 16384);
  CHECK(header.tail_offset == 0);
  CHECK(header.pages_offset == head.size());
  CHECK(head.size() % 65536 == 0);
  CHECK(crc32(std::as_bytes(std::span(&header, 1)).first(44)) == header.checksum);
}

TEST_CASE("the tail leaves the header's checksum valid") {
  const UniqueFd fd = temporary_file();
  Sections before, after;
  REQUIRE(before.add(FKT_SEC_MACHINE, "{}"));
  REQUIRE(after.add(FKT_SEC_TOTALS, "{\"events\":1}"));
  const std::string head = file_head(7, 4096, before);
  REQUIRE(write_all(fd.get(), as_bytes(head), "test"));
  const std::uint64_t offset = head.size() + 4096;
  REQUIRE(write_tail(fd.get(), offset, after, "test"));

  const std::string file = written_to(fd.get());
  fkt_file_header header = header_of(file);
  CHECK(header.tail_offset == offset);
  header.tail_offset = 0;
  CHECK(crc32(std::as_bytes(std::span(&header, 1)).first(44)) == header.checksum);
  const SectionList list = walk_sections(as_bytes(file), offset, file.size());
  REQUIRE(list.sections.size() == 2);
  CHECK(Payload::read(list.sections[0])->text() == "{\"events\":1}");
  CHECK(list.sections[1].header.type == FKT_SEC_END);
}

TEST_CASE("a full output is an error with its name") {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  REQUIRE(full);
  const Status status = write_all(full.get(), as_bytes("text"), "trace_file");
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "trace_file: no space left on device");
}

TEST_CASE("the search behind damaged sections ends, however many of them there are") {
  constexpr std::uint64_t kPairs = 1 << 15;
  std::vector<fkt_section_header> headers;
  for (std::uint64_t n = 0; n < kPairs; n++) {
    // One whose checksum is wrong and that claims most of the file, and a good one inside it.
    const std::uint64_t rest = (2 * (kPairs - n) - 1) * sizeof(fkt_section_header) - 8;
    headers.push_back({.magic = FKT_SECTION_MAGIC,
                       .type = 41,
                       .flags = FKT_SECTION_CHECKED,
                       .checksum = 1,
                       .stored_bytes = rest,
                       .raw_bytes = rest});
    fkt_section_header good{.magic = FKT_SECTION_MAGIC,
                            .type = 40,
                            .flags = FKT_SECTION_CHECKED,
                            .checksum = 0,
                            .stored_bytes = 0,
                            .raw_bytes = 0};
    good.checksum = section_checksum(good, {});
    headers.push_back(good);
  }
  const ByteView bytes = std::as_bytes(std::span(headers));
  const SectionList list = walk_sections(bytes, 0, bytes.size(), Closing::expected);
  CHECK(list.faults.size() > 100);
  CHECK(list.faults.size() < 2000);
}
