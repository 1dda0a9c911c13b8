// SPDX-License-Identifier: GPL-2.0-only
// Tests what system calls are said to be about: arguments, and files of descriptors.
#include <fcntl.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include <fkt/call_event.h>

#include "lib/analyse/call_subjects.h"
#include "tests/unit/analyzed.h"

using namespace fkt;
using namespace fkt::test;

// Other files that are compiled with this one have names like these.
namespace call_subjects {
namespace {

constexpr std::uint64_t kDevice = 8 << 20 | 1, kCwd = static_cast<std::uint32_t>(AT_FDCWD);
enum Call { kRead = 0, kClose = 3, kDup = 32, kFsync = 75, kOpenat = 257, kExecve = 59 };

constexpr const char* kLines =
    "name\tfunction\t0\tvfs_fsync_range\n"
    "values\tfunction\t0\t0\tdev:dev:1:0:64 ino:u:2:0:64 ret:s:3:0:64\n";

class SubjectRecording : public RecordingBuilder {
 public:
  SubjectRecording() {
    section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kLines);
    section(FKT_SEC_SYSCALLS,
            "64\t0\tread\n64\t3\tclose\n64\t32\tdup\n64\t59\texecve\n64\t75\tfdatasync\n"
            "64\t257\topenat\n");
    section(FKT_SEC_TASKS, "1\t1\t0\tinit\n42\t42\t1\tapp\n43\t42\t1\tapp\n");
    pid(0, 42).pid(1, 43);
  }
  // Adds a call with these arguments; where its file is known, by a function in it.
  void call(std::uint32_t cpu, Call number, std::vector<std::uint64_t> words, std::int64_t result,
            std::uint64_t inode = 0, const char* path = nullptr) {
    words.insert(words.begin(), number);
    words.resize(7);
    if (path != nullptr) words.push_back(chars(path));
    const auto count = static_cast<std::uint32_t>(words.size());
    long_event(cpu, at_ += 10, path ? FKT_E_SYS_ENTRY_PATH : FKT_E_SYS_ENTRY_ARGS, count, words);
    if (inode != 0) {
      const std::vector<std::uint64_t> values{fkt_call_values_word(0, 5), at_ + 5, kDevice, inode,
                                              0};
      at_ += 10;
      long_event(cpu, at_, FKT_E_CALL_VALUES, static_cast<std::uint32_t>(values.size()), values);
    }
    event(cpu, at_ += 10, FKT_E_SYS_EXIT, static_cast<std::uint32_t>(result) & FKT_ARG_MASK, {});
  }
  // Returns what each call was about at its end.
  std::vector<std::string> about() {
    const Recording recording = opened(finish());
    Analysis analysis(recording.info(), {});
    CallSubjects subjects(analysis);
    std::vector<std::string> all;
    for (const Event& event : recording.events()) {
      const Analysis::Found place = analysis.add(event);
      subjects.add(event, place);
      if (event.id == FKT_E_SYS_EXIT) all.push_back(subjects.about(place.task));
    }
    return all;
  }

 private:
  std::uint64_t at_ = T;
};

}  // namespace

TEST_CASE("a descriptor is the file that was opened, in all threads, until it is closed") {
  SubjectRecording r;
  r.call(0, kOpenat, {kCwd, 0x7f00, O_RDWR}, 5, 0, "/ab");
  r.call(1, kRead, {5, 0, 10}, 10);
  r.call(0, kDup, {5}, 6);
  r.call(0, kClose, {5}, 0);
  r.call(0, kRead, {5, 0, 10}, -9);
  r.call(0, kRead, {6, 0, 10}, 10);
  CHECK(r.about() == std::vector<std::string>{"AT_FDCWD, \"/ab\", O_RDWR", "5</ab>, NULL, 10",
                                              "5</ab>", "5</ab>", "5, NULL, 10",
                                              "6</ab>, NULL, 10"});
}

TEST_CASE("a descriptor is the file that a function in an earlier call was about") {
  SubjectRecording r;
  r.event(0, T + 1, FKT_E_NAME, 3, {kDevice, 77, 0x62612f});
  r.call(0, kFsync, {7}, 0, 77);
  r.call(0, kRead, {7, 0, 1}, 1);
  r.call(0, kFsync, {8}, 0, 78);
  CHECK(r.about() == std::vector<std::string>{"7</ab>", "7</ab>, NULL, 1", "8<inode 78 on 8:1>"});
}

TEST_CASE("execve(2) closes descriptors that are marked so") {
  SubjectRecording r;
  r.call(0, kOpenat, {kCwd, 0x7f00, O_CLOEXEC}, 5, 0, "/ab");
  r.call(0, kOpenat, {kCwd, 0x7f00, O_RDONLY}, 6, 0, "/cd");
  r.call(0, kExecve, {0x7f00, 0, 0}, 0, 0, "/bin/x");
  r.call(0, kRead, {5, 0, 1}, 1);
  r.call(0, kRead, {6, 0, 1}, 1);
  const std::vector<std::string> about = r.about();
  CHECK(about[3] == "5, NULL, 1");
  CHECK(about[4] == "6</cd>, NULL, 1");
}

}  // namespace call_subjects
