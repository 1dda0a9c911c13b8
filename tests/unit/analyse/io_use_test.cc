// SPDX-License-Identifier: GPL-2.0-only
// Tests the tables of files, disks and sockets, on recordings made here.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include <fkt/call_event.h>
#include <fkt/point_hit.h>

#include "lib/analyse/io_use.h"
#include "lib/analyse/search_passes.h"
#include "lib/read/event_merge.h"
#include "lib/report/io_report.h"
#include "tests/unit/recording_builder.h"

using namespace fkt;
using fkt::test::RecordingBuilder;

namespace {

constexpr std::uint64_t kStart = RecordingBuilder::kStart;

enum Function {
  kRead,
  kOpen,
  kOther,
  kSend,
  kReceive,
  kReadBelow,
  kSync,
  kSyncOfExt4,
  kSend6,
  kSend4,
  kAioRead,
  kAioDone,
  kUringWrite,
};
enum Point { kQueue, kIssue, kComplete, kUringDone };

constexpr const char* kLines =
    "name\tfunction\t0\tvfs_read\n"
    "name\tfunction\t1\tvfs_open\n"
    "name\tfunction\t2\tvfs_raed\n"
    "name\tfunction\t3\ttcp_sendmsg\n"
    "name\tfunction\t4\ttcp_recvmsg\n"
    "name\tfunction\t5\tvfs_iter_read\n"
    "name\tfunction\t6\tvfs_fsync_range\n"
    "name\tfunction\t7\text4_sync_file\n"
    "name\tfunction\t8\tudpv6_sendmsg\n"
    "name\tfunction\t9\tudp_sendmsg\n"
    "name\tfunction\t10\taio_read:entry\n"
    "name\tfunction\t11\taio_complete_rw:entry\n"
    "name\tfunction\t12\tio_write:entry\n"
    "name\ttracepoint\t3\tio_uring_complete\n"
    "name\ttracepoint\t0\tblock_bio_queue\n"
    "name\ttracepoint\t1\tblock_rq_issue\n"
    "name\ttracepoint\t2\tblock_rq_complete\n"
    "name\tdev\t8388609\tsda1\n"
    "values\tfunction\t0\t0\tdev:dev:1:0:64 ino:u:2:0:64 ret:s:3:0:64\n"
    "values\tfunction\t1\t1\tdev:dev:1:0:64 ino:u:2:0:64\n"
    "values\tfunction\t2\t2\tdev:dev:1:0:64 ino:u:2:0:64 ret:s:3:0:64\n"
    "values\tfunction\t3\t3\tsk:x:1:0:64 sport:u:2:0:64 daddr:ip4:3:0:64 dport:port:4:0:64 "
    "ret:s:5:0:64\n"
    "values\tfunction\t4\t4\tsk:x:1:0:64 sport:u:2:0:64 daddr:ip4:3:0:64 daddr6:ip6:4:0:128 "
    "dport:port:6:0:64 ret:s:7:0:64 flags:x:8:0:64\n"
    "values\tfunction\t5\t5\tdev:dev:1:0:64 ino:u:2:0:64 ret:s:3:0:64\n"
    "values\tfunction\t6\t6\tdev:dev:1:0:64 ino:u:2:0:64 ret:s:3:0:64\n"
    "values\tfunction\t7\t7\tdev:dev:1:0:64 ino:u:2:0:64 ret:s:3:0:64\n"
    "values\tfunction\t8\t8\tsk:x:1:0:64 ret:s:2:0:64\n"
    "values\tfunction\t9\t9\tsk:x:1:0:64 ret:s:2:0:64\n"
    "values\tfunction\t10\t10\trq:x:1:0:64 dev:dev:2:0:64 ino:u:3:0:64\n"
    "values\tfunction\t11\t11\trq:x:1:0:64 result:s:2:0:64\n"
    "values\tfunction\t12\t12\trq:x:1:0:64 dev:dev:2:0:64 ino:u:3:0:64\n"
    "values\ttracepoint\t3\t3\trq:x:1:0:64 result:s:2:0:32\n"
    "values\ttracepoint\t0\t0\tdev:dev:1:0:64 part:dev:2:0:64 ino:u:3:0:64 sector:u:4:0:64\n"
    "values\ttracepoint\t1\t1\trq:x:1:0:64 dev:dev:2:0:64 sector:u:3:0:64 bytes:u:4:0:64 "
    "flags:x:5:0:64\n"
    "values\ttracepoint\t2\t2\trq:x:1:0:64 bytes:u:2:0:64 error:u:3:0:64\n";

class IoRecording {
 public:
  IoRecording() {
    builder_.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kLines);
    builder_.section(FKT_SEC_TASKS,
                     "1\t1\t0\tinit\n10\t10\t1\tfkt_record\n42\t42\t10\twork\n43\t42\t10\twork\n"
                     "7\t7\t2\tkworker\n");
  }

  // A call of thread `tid` that ended at `end` ns after the start and took `ticks` ns.
  void call(std::uint32_t tid, std::uint64_t end, std::uint64_t ticks, Function function,
            std::initializer_list<std::uint64_t> values) {
    builder_.pid(0, tid);
    std::vector<std::uint64_t> words{fkt_call_values_word(function, ticks), kStart + end - ticks};
    words.insert(words.end(), values);
    event(kStart + end, FKT_E_CALL_VALUES, static_cast<std::uint32_t>(words.size()), words);
  }
  void point(std::uint32_t tid, std::uint64_t at, Point point,
             std::initializer_list<std::uint64_t> values) {
    builder_.pid(0, tid);
    event(kStart + at, FKT_E_POINT_VALUES,
          FKT_POINT_ARG(point, static_cast<std::uint32_t>(values.size())),
          std::vector<std::uint64_t>(values));
  }

  // A function is entered, with values.
  void entry(std::uint32_t tid, std::uint64_t at, Function function,
             std::initializer_list<std::uint64_t> values) {
    builder_.pid(0, tid);
    std::vector<std::uint64_t> words{static_cast<std::uint64_t>(function)};
    words.insert(words.end(), values);
    event(kStart + at, FKT_E_FUNCTION_ENTRY_VALUES, static_cast<std::uint32_t>(words.size()),
          words);
  }

  // path: at most 8 characters.
  void name(std::uint32_t tid, std::uint64_t at, std::uint64_t device, std::uint64_t inode,
            std::string_view path) {
    std::uint64_t word = 0;
    std::memcpy(&word, path.data(), path.size());
    builder_.pid(0, tid);
    event(kStart + at, FKT_E_NAME, 3, {device, inode, word});
  }

  struct Table {
    std::vector<IoUse::Row> rows;
    std::string csv;
  };
  // where: the expression of --where; task: the name of --task.
  Table table(IoUse::Table which, const char* where = nullptr, const char* task = nullptr) {
    if (file_.empty()) file_ = builder_.finish();
    const Result<Recording> trace = Recording::from_bytes(file_);
    REQUIRE(trace);
    Selection selection;
    if (where != nullptr) {
      const auto filter = make_filter(*trace, where, {});
      REQUIRE(filter);
      selection.where = *filter;
    }
    if (task != nullptr) selection.own = TaskChoice{0, task};
    Analysis analysis(trace->info(), selection);
    IoUse use(analysis, which);
    for (const Event& event : trace->events()) use.add(event, analysis.add(event));
    CHECK(use.has_source());
    const TimeFormat time(TimeUnit::ns, 1e9);
    TextWriter out;
    IoReport{use, which, trace->info(), analysis.tasks(), time, 1000}.csv(out);
    // The names that rows refer to end with the trace; numbers do not.
    std::vector<IoUse::Row> rows = use.rows();
    for (IoUse::Row& row : rows) row.object.protocol = {};
    return {std::move(rows), std::string(out.view())};
  }

 private:
  void event(std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
             const std::vector<std::uint64_t>& words) {
    switch (words.size()) {
      case 2:
        builder_.event(0, clock, id, arg, {words[0], words[1]});
        break;
      case 4:
        builder_.event(0, clock, id, arg, {words[0], words[1], words[2], words[3]});
        break;
      case 3:
        builder_.event(0, clock, id, arg, {words[0], words[1], words[2]});
        break;
      case 5:
        builder_.event(0, clock, id, arg, {words[0], words[1], words[2], words[3], words[4]});
        break;
      case 7:
        builder_.event(0, clock, id, arg,
                       {words[0], words[1], words[2], words[3], words[4], words[5], words[6]});
        break;
      case 10:
        builder_.event(0, clock, id, arg,
                       {words[0], words[1], words[2], words[3], words[4], words[5], words[6],
                        words[7], words[8], words[9]});
        break;
      case 9:
        builder_.event(0, clock, id, arg,
                       {words[0], words[1], words[2], words[3], words[4], words[5], words[6],
                        words[7], words[8]});
        break;
      default:
        FAIL("no event with " << words.size() << " words");
    }
  }

  RecordingBuilder builder_;
  fkt::test::Bytes file_;
};

constexpr std::uint64_t kDisk = 8 << 20 | 1, kPartition = 8 << 20 | 2;

}  // namespace

TEST_CASE("files: each process, file and kind of call has a row") {
  IoRecording r;
  r.name(42, 390, kDisk, 77, "a/b");
  r.call(42, 500, 100, kOpen, {kDisk, 77});
  r.call(42, 1'000, 200, kRead, {kDisk, 77, 4096});
  r.call(43, 2'000, 400, kRead, {kDisk, 77, 100});
  r.call(43, 3'000, 400, kRead, {kDisk, 77, static_cast<std::uint64_t>(-5)});
  r.call(42, 4'000, 50, kRead, {kDisk, 78, 10});
  r.call(42, 5'000, 50, kOther, {kDisk, 78, 10});
  const auto [rows, csv] = r.table(IoUse::Table::files);
  CHECK(csv ==
        "count,bytes,errors,total,p50,p99,max,what,pid,process,device,inode,file\r\n"
        "3,4196,1,1000,400,400,400,read,42,work,sda1,77,a/b\r\n"
        "1,10,0,50,50,50,50,read,42,work,sda1,78,\r\n"
        "1,0,0,100,100,100,100,open,42,work,sda1,77,a/b\r\n");
}

TEST_CASE("disks: a request counts for the process that asked, from issue to completion") {
  IoRecording r;
  // Two bios of process 42 become one request, which a worker issues.
  r.name(42, 90, kPartition, 77, "/file");
  r.point(42, 100, kQueue, {kDisk, kPartition, 77, 1000});
  r.point(42, 110, kQueue, {kDisk, kPartition, 78, 1008});
  r.point(7, 200, kIssue, {0xabc, kDisk, 1000, 8192, 0x1});
  // One of nobody that is known, of which the device does a part first.
  r.point(7, 300, kIssue, {0xdef, kDisk, 5000, 4096, 0x0});
  r.point(42, 700, kComplete, {0xabc, 8192, 0});
  r.point(42, 800, kComplete, {0xdef, 1024, 0});
  r.point(42, 900, kComplete, {0xdef, 3072, 0});
  // It was issued before the recording.
  r.point(42, 950, kComplete, {0x123, 512, 0});
  // One that fails; the same address as before.
  r.point(42, 1'000, kIssue, {0xabc, kDisk, 9000, 512, 0x1});
  r.point(7, 1'100, kComplete, {0xabc, 0, 10});
  const auto [rows, csv] = r.table(IoUse::Table::disks);
  CHECK(csv ==
        "count,bytes,errors,total,p50,p99,max,what,pid,process,device,inode,file\r\n"
        "1,8192,0,500,500,500,500,write,42,work,sda1,77,/file\r\n"
        "1,4096,0,600,600,600,600,read,7,kworker,sda1,,\r\n"
        "1,0,1,100,100,100,100,write,42,work,sda1,,\r\n");
}

TEST_CASE("sockets: addresses and ports are as people write them") {
  IoRecording r;
  const std::uint64_t address = 0x0202000a;  // 10.0.2.2 in a packet
  const std::uint64_t port = 0x5000;         // 80 in a packet
  r.call(42, 1'000, 200, kSend, {0xffff, 4242, address, port, 700});
  r.call(42, 2'000, 300, kSend, {0xffff, 4242, address, port, 300});
  const auto [rows, csv] = r.table(IoUse::Table::sockets);
  CHECK(csv ==
        "count,bytes,errors,total,p50,p99,max,what,pid,process,protocol,port,peer\r\n"
        "2,1000,0,500,202,300,300,send,42,work,tcp,4242,10.0.2.2:80\r\n");
}

TEST_CASE("sockets of version 6") {
  IoRecording r;
  // fe80::1 and port 80 in a packet; the address is two words.
  r.call(42, 3'000, 100, kReceive, {0xeeee, 4343, 0, 0x80fe, 0x0100000000000000, 0x5000, 50, 0});
  CHECK(r.table(IoUse::Table::sockets).csv ==
        "count,bytes,errors,total,p50,p99,max,what,pid,process,protocol,port,peer\r\n"
        "1,50,0,100,100,100,100,receive,42,work,tcp,4343,[fe80::1]:80\r\n");
}

TEST_CASE("a request without sectors is nobody's who waited for others") {
  IoRecording r;
  constexpr std::uint64_t kMapped = 253 << 20, kNone = ~std::uint64_t{0};
  r.point(42, 100, kQueue, {kDisk, kDisk, 0, 0});  // a flush
  r.point(42, 110, kQueue, {kMapped, kMapped, 0, 2048});
  r.point(43, 200, kIssue, {0xa0, kDisk, kNone, 512, 0});
  r.point(43, 300, kComplete, {0xa0, 512, 0});
  const auto [rows, csv] = r.table(IoUse::Table::disks);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].object.device == kDisk);
  CHECK(rows[0].sums.bytes == 512);
}

TEST_CASE("calls in each other that do the same count once") {
  IoRecording r;
  r.call(42, 1'000, 100, kSyncOfExt4, {kDisk, 77, 0});
  r.call(42, 1'010, 200, kSync, {kDisk, 77, 0});
  r.call(42, 2'000, 100, kSyncOfExt4,
         {kDisk, 77, 0});  // the compiler has led this way past the other
  r.call(43, 3'000, 50, kReadBelow, {kPartition, 5, 4096});
  r.call(43, 3'010, 100, kRead, {kDisk, 6, 4096});
  r.call(43, 4'000, 50, kReadBelow, {kPartition, 5, 300});
  CHECK(r.table(IoUse::Table::files).csv ==
        "count,bytes,errors,total,p50,p99,max,what,pid,process,device,inode,file\r\n"
        "1,4096,0,100,100,100,100,read,42,work,sda1,6,\r\n"
        "1,4096,0,50,50,50,50,read below,42,work,8:2,5,\r\n"
        "1,300,0,50,50,50,50,read,42,work,8:2,5,\r\n"
        "2,0,0,300,101,200,200,sync,42,work,sda1,77,\r\n");
}

TEST_CASE("a datagram that one function hands to another is sent once") {
  IoRecording r;
  r.call(42, 1'000, 100, kSend4, {0xffff, 104});
  r.call(42, 1'010, 200, kSend6, {0xffff, 104});
  r.call(42, 2'000, 100, kSend4, {0xffff, 105});
  CHECK(r.table(IoUse::Table::sockets).csv ==
        "count,bytes,errors,total,p50,p99,max,what,pid,process,protocol,port,peer\r\n"
        "1,105,0,100,100,100,100,send,42,work,udp,0,-\r\n"
        "1,104,0,200,200,200,200,send,42,work,udp6,0,-\r\n");
}

TEST_CASE("files: what is read and written for others to complete") {
  IoRecording r;
  r.entry(42, 100, kAioRead, {0xa0, kDisk, 77});
  r.entry(7, 400, kAioDone, {0xa0, 4096});
  r.entry(7, 450, kAioDone, {0xa0, 4096});  // nobody has asked
  r.entry(43, 500, kUringWrite, {0xb0, kDisk, 78});
  r.entry(43, 600, kUringWrite, {0xb0, kDisk, 78});  // by a worker, since it has to wait
  r.point(7, 800, kUringDone, {0xb0, 5000});
  r.entry(42, 900, kAioRead, {0xa0, kDisk, 77});
  r.entry(42, 950, kAioDone, {0xa0, static_cast<std::uint64_t>(-5)});
  const char* const all =
      "count,bytes,errors,total,p50,p99,max,what,pid,process,device,inode,file\r\n"
      "1,5000,0,300,300,300,300,write,42,work,sda1,78,\r\n"
      "2,4096,1,350,50,300,300,read,42,work,sda1,77,\r\n";
  CHECK(r.table(IoUse::Table::files).csv == all);
  CHECK(r.table(IoUse::Table::files, "task == \"work\"").csv == all);
  CHECK(r.table(IoUse::Table::files, nullptr, "work").csv == all);
  CHECK(r.table(IoUse::Table::files, "task == \"kworker\"").rows.empty());
}

TEST_CASE("disks: a request is selected as one of the process that asked") {
  IoRecording r;
  r.point(42, 100, kQueue, {kDisk, kPartition, 77, 1000});
  r.point(7, 200, kIssue, {0xabc, kDisk, 1000, 8192, 0x1});
  r.point(7, 250, kIssue, {0xdef, kDisk, 5000, 4096, 0x1});
  r.point(7, 700, kComplete, {0xabc, 8192, 0});
  r.point(42, 800, kComplete, {0xdef, 4096, 0});
  const auto bytes = [&](const char* where, const char* task) {
    std::uint64_t sum = 0;
    for (const IoUse::Row& row : r.table(IoUse::Table::disks, where, task).rows)
      sum += row.sums.bytes;
    return sum;
  };
  CHECK(bytes(nullptr, nullptr) == 8192 + 4096);
  CHECK(bytes(nullptr, "work") == 8192);
  CHECK(bytes(nullptr, "kworker") == 4096);
  CHECK(bytes("task == \"work\"", nullptr) == 8192);
  CHECK(bytes("task != \"work\"", nullptr) == 4096);
  CHECK(bytes("pid == 42", nullptr) == 8192);
  CHECK(bytes("sector == 5000", nullptr) == 4096);
}

TEST_CASE("the other end of an accepted connection of version 6, and of one of version 4") {
  IoRecording r;
  const std::uint64_t meaningless = 0x0600007f;  // 127.0.0.6
  r.call(42, 1'000, 100, kReceive,
         {0xeeee, 4343, meaningless, 0, 0x0100000000000000, 0x5000, 50, 0});
  r.call(42, 2'000, 100, kReceive,
         {0xdddd, 4344, 0x0100007f, 0, 0x0100007fffff0000, 0x5000, 40, 0});
  // What is looked at stays there.
  r.call(42, 3'000, 100, kReceive,
         {0xdddd, 4344, 0x0100007f, 0, 0x0100007fffff0000, 0x5000, 30, 0x2});
  // Both sides have closed it.
  r.call(42, 4'000, 100, kReceive, {0xdddd, 0, 0x0100007f, 0, 0x0100007fffff0000, 0x5000, 2, 0});
  CHECK(r.table(IoUse::Table::sockets).csv ==
        "count,bytes,errors,total,p50,p99,max,what,pid,process,protocol,port,peer\r\n"
        "1,50,0,100,100,100,100,receive,42,work,tcp,4343,[::1]:80\r\n"
        "2,42,0,200,100,100,100,receive,42,work,tcp,4344,127.0.0.1:80\r\n"
        "1,30,0,100,100,100,100,peek,42,work,tcp,4344,127.0.0.1:80\r\n");
}

TEST_CASE("a percentile lies between the shortest and the longest") {
  IoRecording r;
  r.call(42, 200'000, 100'001, kRead, {kDisk, 77, 10});
  CHECK(r.table(IoUse::Table::files).csv.find("100001,100001,100001,100001,read") !=
        std::string::npos);
}
