// SPDX-License-Identifier: GPL-2.0-only
// Writes the fuzzers' seeds into a folder: small recordings of every kind the reader knows, and a
// log of KFT.
#include <fcntl.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "lib/extract.h"
#include "lib/unique_fd.h"
#include "tests/unit/trace_builder.h"

using fkt::test::TraceBuilder;

namespace {

constexpr std::uint64_t kStart = TraceBuilder::kStart;

// A bit of everything: two CPUs, pids, a pause, a gap, strings, several pages.
TraceBuilder sample(bool with_catalogue) {
  TraceBuilder b;
  // Without one the reader takes its own, and the fuzzer has fewer bytes to waste time on.
  if (!with_catalogue) b.section(FKT_SEC_CATALOGUE, "");
  b.section(FKT_SEC_SYMBOLS, "ffffffff81000000\tT\t_text\nffffffffc0000000\tt\tprobe\tfkt\n");
  b.pid(0, 42).event(0, kStart + 1, FKT_E_SYS_ENTRY, 39).event(0, kStart + 5, FKT_E_SYS_EXIT, 42);
  b.pid(0, 43).event(0, kStart + 9, FKT_E_SWITCH_S, 44);
  b.event(0, kStart + 10, FKT_E_EXEC, 3, {0x2a0000002bULL, 0x6e69622f, 0});
  b.event(1, kStart + 3, FKT_E_FAULT_KERNEL, 2, {0x1000, 0xffffffff81000010});
  b.event(1, kStart + (1ULL << 40), FKT_E_RENAME, 42, {0x61616161, 0});
  b.lost(0, kStart + 20, kStart + 30, 5).event(0, kStart + 30, FKT_E_IRQ_ENTRY, 14);
  b.skip_pages(1, 1).event(1, kStart + (1ULL << 41), FKT_E_SYS_EXIT_LONG, 0, {1});
  return b;
}

// A recording with the state at its cut, and that state alone.
bool write_slice(const std::string& path) {
  const fkt::Trace trace = std::move(*fkt::Trace::from_bytes(sample(false).finish()));
  const fkt::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666));
  if (!file || !fkt::extract(trace, {kStart + 4, kStart + 25}, file.get(), path, {})) return false;
  const fkt::Result<fkt::Trace> slice = fkt::Trace::open(path);
  if (!slice || !slice->info().cut) return false;
  std::ofstream(path + "-cut") << slice->info().cut->to_lines();
  return true;
}

constexpr const char* kExpressions[] = {
    "name ~ \"sys_*\" && duration > 1.5us && cpu == 1",
    "ret == -ENOENT || !(handled != 1)",
    "task !~ 'idle*' && time >= 0x1f && layer == process",
    "state == D || next == find || ip ~ 'do_*' || path == \"/usr/bin/find\"",
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: seeds FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = std::string(argv[1]) + '/';
  using Tail = TraceBuilder::Tail;
  sample(true).write(folder + "finished.fkt");
  sample(false).write(folder + "no-catalogue.fkt");
  sample(false).write(folder + "unfinished.fkt", Tail::none);
  sample(false).write(folder + "stream.fkt", Tail::stream);
  TraceBuilder().section(FKT_SEC_CATALOGUE, "").write(folder + "empty.fkt");
  TraceBuilder big(16384);
  big.section(FKT_SEC_CATALOGUE, "").event(7, kStart, FKT_E_NMI);
  big.write(folder + "large-page.fkt");
  if (!write_slice(folder + "slice.fkt")) return 1;
  int number = 0;
  for (const char* text : kExpressions) {
    std::ofstream(folder + "expression-" + std::to_string(number++)) << text;
  }
  std::ofstream(folder + "kft.lst") << " Entry Delta PID Function Called At\n"
                                       "1 0 0 start a+0x1\n2 90 0 read start+0x2\n"
                                       "10 20 0 irq read+0x3\n12 5 -1 tick irq+0x4\n"
                                       "20 30 0 schedule read+0x5\n25 no exit 33i ack x+0x6\n"
                                       "30 9 33 write y+0x7\n55 -2 0 read read+0x8\n";
  return 0;
}
