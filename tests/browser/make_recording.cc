// SPDX-License-Identifier: GPL-2.0-only
// make_recording EVENTS FILE: a synthetic recording of about so many events on two CPUs: three
// tasks, two of them threads of one process, that call, sleep, are woken and interrupted, with a
// gap and a fork in the middle. Early on one call is slower than all others: it sleeps until a
// kworker, then much longer until the journal's thread, while a disk has its request.
#include <fkt/point_hit.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "tests/unit/recording_builder.h"

namespace {

using namespace fkt;
using test::RecordingBuilder;

constexpr std::uint32_t kDisk = 14, kTimer = 0xec;
constexpr std::uint32_t kReader = 42, kWriter = 43;

// One turn of a CPU's task: calls, one of them asleep until the disk's interrupt. 12 events.
std::uint64_t turn(RecordingBuilder& b, std::uint32_t cpu, std::uint32_t tid, std::uint64_t at,
                   std::uint64_t number) {
  const std::uint64_t slow = number % 97 == 0 ? 40'000 : 300 + number % 13 * 40;
  b.event(cpu, at + 100, FKT_E_SYS_ENTRY, 39);
  b.event(cpu, at + 160, FKT_E_SYS_EXIT, tid);
  b.event(cpu, at + 300, FKT_E_SYS_ENTRY, cpu);
  b.event(cpu, at + 500, FKT_E_SWITCH_D, 0);
  at += slow;
  b.event(cpu, at + 600, FKT_E_IRQ_ENTRY, kDisk);
  b.event(cpu, at + 650, FKT_E_WAKING, tid);
  b.event(cpu, at + 700, FKT_E_IRQ_EXIT, kDisk | 1 << 22);
  b.event(cpu, at + 800, FKT_E_SWITCH_R, tid);
  b.event(cpu, at + 900, FKT_E_SYS_EXIT, 512);
  b.event(cpu, at + 1000, FKT_E_VECTOR_ENTRY, kTimer);
  b.event(cpu, at + 1040, FKT_E_SOFTIRQ_RAISE, 1);
  b.event(cpu, at + 1080, FKT_E_VECTOR_EXIT, kTimer);
  return at + 1100;
}

constexpr std::uint32_t kWorker = 45, kJournal = 46;
constexpr std::uint64_t kVda = 254 << 20;
constexpr const char* kRequests =
    "name\ttracepoint\t3\tblock_rq_issue\nname\ttracepoint\t4\tblock_rq_complete\n"
    "name\tdev\t266338304\tvda\n"
    "values\ttracepoint\t3\t3\trq:x:1:0:64 dev:dev:2:0:64 bytes:u:3:0:64 flags:x:4:0:64 "
    "ino:u:5:0:64\n"
    "values\ttracepoint\t4\t4\trq:x:1:0:64 dev:dev:2:0:64\n"
    "async\ttracepoint\t3\t3\tbegin\trequest\trq\tdev\n"
    "async\ttracepoint\t4\t4\tend\trequest\trq\tdev\n";

std::uint64_t slowest_call(RecordingBuilder& b, std::uint64_t at) {
  std::array<std::uint64_t, 4> name{kVda, 15};
  std::memcpy(name.data() + 2, "/backup.img", 11);
  b.event(0, at + 100, FKT_E_SYS_ENTRY, 74);
  b.long_event(0, at + 150, FKT_E_NAME, name.size(), name);
  b.event(0, at + 200, FKT_E_POINT_VALUES, FKT_POINT_ARG(3, 5), {0xf00, kVda, 65536, 0x801, 15});
  b.event(0, at + 1000, FKT_E_SWITCH_S, kWorker);
  b.event(0, at + 1500, FKT_E_WAKING, kReader);
  b.event(0, at + 1600, FKT_E_SWITCH_S, kReader);
  b.event(0, at + 2000, FKT_E_SWITCH_S, kJournal);
  b.event(0, at + 50'000, FKT_E_POINT_VALUES, FKT_POINT_ARG(4, 2), {0xf00, kVda});
  b.event(0, at + 62'000, FKT_E_WAKING, kReader);
  b.event(0, at + 62'500, FKT_E_SWITCH_S, kReader);
  b.event(0, at + 63'000, FKT_E_SYS_EXIT, 0);
  return at + 63'100;
}

}  // namespace

int main(int argc, char** argv) {
  const long wanted = argc == 3 ? std::atol(argv[1]) : 0;
  if (wanted <= 0) {
    std::cerr << "usage: make_recording EVENTS FILE\n";
    return 2;
  }
  RecordingBuilder b(16384);
  b.section(FKT_SEC_TASKS,
            "1\t1\t0\tinit\n42\t42\t1\treader\n43\t42\t1\twriter\n"
            "45\t45\t2\tkworker/0:1\n46\t46\t2\tjbd2/vda-8\n");
  b.section(FKT_SEC_SYSCALLS, "64\t0\tread\n64\t1\twrite\n64\t39\tgetpid\n64\t74\tfsync\n");
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kRequests);
  b.pid(0, kReader).pid(1, kWriter);
  std::uint64_t at[2] = {RecordingBuilder::kStart, RecordingBuilder::kStart};
  const std::uint64_t turns = static_cast<std::uint64_t>(wanted) / 24;
  for (std::uint64_t i = 0; i < turns; i++) {
    for (const std::uint32_t cpu : {0U, 1U}) {
      at[cpu] = turn(b, cpu, cpu == 0 ? kReader : kWriter, at[cpu], i * (cpu + 1));
    }
    if (i == turns / 8) at[0] = slowest_call(b, at[0]);
    if (i == turns / 2) {
      b.event(0, at[0] + 10, FKT_E_FORK, 44, {std::uint64_t{44} | std::uint64_t{kReader} << 32});
      b.lost(1, at[1] + 100, at[1] + turns * 20, 777);
      at[1] += turns * 20 + 100;
    }
  }
  const test::Bytes file = b.finish();
  std::ofstream out(argv[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  out.close();
  if (!out) std::cerr << "make_recording: " << argv[2] << ": cannot be written\n";
  return out ? 0 : 1;
}
