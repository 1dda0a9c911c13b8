// SPDX-License-Identifier: GPL-2.0-only
// Writes the fuzzers' seeds into a folder: small recordings of every kind the reader knows, a log
// of KFT and its configurations, expressions, instruments, a tracepoint's description, requests,
// messages.
#include <fcntl.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "lib/base/unique_fd.h"
#include "lib/instrument/program_builder.h"
#include "lib/remote/message.h"
#include "lib/slice/slice_writer.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/call_recording.h"

using fkt::test::RecordingBuilder;

namespace {

constexpr std::uint64_t kStart = RecordingBuilder::kStart;

// A bit of everything: two CPUs, pids, a pause, a gap, strings, several pages.
RecordingBuilder sample(bool with_catalogue) {
  RecordingBuilder b;
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
  const fkt::Recording trace = std::move(*fkt::Recording::from_bytes(sample(false).finish()));
  const fkt::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666));
  const fkt::Interval stretches[] = {{kStart + 4, kStart + 12}, {kStart + 20, kStart + 35}};
  if (!file || !fkt::write_slice(trace, stretches, file.get(), path, {})) return false;
  const fkt::Result<fkt::Recording> slice = fkt::Recording::open(path);
  if (!slice || slice->info().stretches() != 2) return false;
  std::ofstream(path + "-cut") << slice->info().checkpoint->to_lines();
  std::ofstream(path + "-cuts") << slice->info().stretch(0).to_lines() << "further\n"
                                << slice->info().stretch(1).to_lines();
  return true;
}

// Recordings with events of whole calls, which readers split into begins and ends.
void write_calls(const std::string& folder) {
  using Recording = fkt::test::CallRecording;
  for (const auto kind :
       {Recording::Kind::switches, Recording::Kind::gaps, Recording::Kind::held}) {
    const fkt::test::Bytes bytes = Recording(3, 2, 150, kind).finish();
    std::ofstream(folder + "calls-" + std::to_string(static_cast<int>(kind)) + ".fkt",
                  std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

// What follows a hello: data, an end and a good-bye; and a recording that is called off.
void write_frames(const std::string& folder) {
  const auto frame = [](fkt_remote_frame_type type, std::uint64_t offset,
                        std::string_view payload) {
    std::string text;
    fkt::remote::append_message(
        text, fkt::remote::make_frame(type, offset, std::as_bytes(std::span(payload))));
    return text + std::string(payload);
  };
  const std::string begin = "\x03" + frame(FKT_REMOTE_DATA, 0, "FKTTRACE") +
                            frame(FKT_REMOTE_DATA, 8, std::string(100, 'x'));
  std::ofstream(folder + "remote-whole")
      << begin << frame(FKT_REMOTE_END, 108, std::string(8, '\0'))
      << frame(FKT_REMOTE_BYE, 108, {});
  std::ofstream(folder + "remote-aborted") << begin << frame(FKT_REMOTE_ABORT, 108, {});
  fkt_remote_hello hello{FKT_REMOTE_MAGIC, FKT_REMOTE_VERSION, 1, 4096, 0, {}, {}};
  std::ofstream(folder + "remote-hello")
      << std::string_view("\0", 1)
      << std::string_view(reinterpret_cast<char*>(&hello), sizeof hello);
}

// Programs with every kind of operand and operation that instruments are compiled to.
bool write_programs(const std::string& folder) {
  fkt::Fetch word, pointer, text, context;
  pointer.index = 2;
  pointer.pointers = {8, 16};
  pointer.load = 4;
  pointer.left = pointer.right = 32;
  pointer.is_signed = true;
  text.index = 3;
  text.is_text = true;
  context.from = FKT_FROM_CONTEXT;
  context.index = FKT_CONTEXT_TASK;
  fkt_insn test{}, match{}, compare{}, words{};
  test.op = FKT_OP_TEST;
  test.value = 1;
  match.op = FKT_OP_MATCH;
  compare.op = FKT_OP_TEST_POP;
  compare.compare = FKT_COMPARE_LT;
  words.op = FKT_OP_EMIT_WORDS;
  words.size = 16;
  fkt::ProgramBuilder builder;
  if (!builder.text("a*b")) return false;
  const fkt::ProgramBuilder::Label further = builder.new_label();
  builder.add(test, word);
  builder.last_jumps_to(further);
  builder.add(match, context);
  builder.last_jumps_to(fkt::ProgramBuilder::kDrop);
  builder.place(further);
  builder.add(FKT_OP_PUSH, word);
  builder.add(compare, pointer);
  builder.last_jumps_to(fkt::ProgramBuilder::kDrop);
  builder.add(words);
  builder.set_words(2);
  builder.emit(pointer, 0);
  builder.emit(text, 24);
  const auto block = builder.finish({.words = 0x1ff,
                                     .record_bytes = 24,
                                     .record = 8,
                                     .emits = 48,
                                     .contexts = 0x7ff,
                                     .texts = 0,
                                     .memory = 1});
  if (!block) return false;
  std::ofstream(folder + "program")
      .write(reinterpret_cast<const char*>(&block->program()),
             static_cast<std::streamsize>(block->bytes()));
  return true;
}

// Pages as page_joiner_fuzz takes them: a thread's system call, and its program's event in it.
void write_pages(const std::string& folder) {
  std::ofstream out(folder + "pages");
  const auto page = [&out](char of, std::initializer_list<std::uint64_t> words) {
    out << of << static_cast<char>(words.size()) << std::string(2, '\0');
    for (std::uint64_t word : words) out.write(reinterpret_cast<char*>(&word), sizeof word);
  };
  page(5 << 3, {fkt_word(kStart, FKT_E_SWITCH_S, 6), fkt_word(kStart + 9, FKT_E_SYS_ENTRY, 39),
                fkt_word(kStart + 20, FKT_E_SYS_EXIT, 5)});
  page(6 << 3 | 1 << 1 | 1, {fkt_word(kStart + 12, FKT_E_USER_PROBE1, 7), 8});
}

constexpr const char* kExpressions[] = {
    "name ~ \"sys_*\" && duration > 1.5us && cpu == 1",
    "ret == -ENOENT || !(handled != 1)",
    "task !~ 'idle*' && time >= 0x1f && layer == process",
    "state == D || next == find || ip ~ 'do_*' || path == \"/usr/bin/find\"",
};

constexpr const char* kEventFormat =
    "name: block_thing\nID: 1\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:char rwbs[8];\toffset:12;\tsize:8;\tsigned:0;\n"
    "\tfield:__data_loc char[] cmd;\toffset:20;\tsize:4;\tsigned:0;\n"
    "\tfield:int state;\toffset:24;\tsize:4;\tsigned:1;\n\n"
    "print fmt: \"%d %s\", ((unsigned int) ((REC->dev) >> 20)), (REC->state & 3) ? "
    "__print_flags(REC->state & 3, \"|\", { 1 << 0, \"S\" }, { 0x2u, \"D\" }) : \"R\"\n";

constexpr const char* kInstruments[] = {
    "call:vfs_read(file.f_path.dentry->d_name.name, count) ret if duration > 1ms && 1/10",
    "fn:ext4:ext4_*,!ext4_da_*:entry if inside && stack_left < 500 do stack",
    "tp:block:block_rq_issue do histogram(nr_sector, by task)",
    "at:vfs_read+0x1c(table[3].next:number) do set inside",
    "block:kernel_clone:7 do count",
    "user:/usr/bin/x:func ret:string do handler mine",
};

constexpr const char* kKftConfigs[] = {
    // In brackets, because clang takes two parts without a comma for a forgotten one.
    ("new\nbegin\n  trigger start entry start_kernel\n  trigger stop exit 0xc001d804\n  filter "
     "mintime 500\n  filter maxtime 0\n  filter noints\n  logentries 500\nend\n"),
    "trigger start time 5000000 # us\ntrigger stop time 5ms\nfilter onlyints\nprime\n",
    "filter funclist vfs_* !vfs_w* :mod:ext4 0xc02cb754 fend\nfilter mintime 50 ext4_*\n",
    "autorepeat\ntrigger start exit a\ntrigger stop exit b duration > 50ms && ret < 0\n",
    "filter keep children 10% filter depth 4 filter cpu 1 filter task find filter uid 3",
    "filter caller vfs_read filter cgroup 7 filter cputime overwrite untimed watch stack 500",
};

// What the page asks, as it stands behind "/TOKEN/api/", and whole requests.
constexpr const char* kRequests[] = {
    "info",
    "status",
    "density?from=0&to=200000&cells=100&page=a",
    "lanes?from=100&to=130000&cells=20&tasks=3&filter=find&page=a",
    "events?from=0&to=200000&most=5&cpu=1&task=2",
    "stats?from=100000&to=127000",
    "histogram?from=0&to=200000&name=sys_lstat",
    "next?from=1000&name=irq%2014*",
    "slowest?from=0&to=200000&name=sys_*&most=3&at_least=10&below=1000000",
    "extract?from=0&to=126000&run=1",
    "GET /t/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    "GET /wrong/api/info HTTP/1.1\r\n\r\n",
    ("POST /t/api/extract HTTP/1.1\r\nContent-Length: 17\r\n"
     "Content-Type: application/x-www-form-urlencoded\r\n\r\nfrom=0&to=9&run=1"),
    "GET /t/api/stats?from=0&to=%zz HTTP/1.0\r\nRange: bytes=0-3\r\nAccept-Encoding: gzip\r\n\r\n",
    "POST /t/api/extract HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfrom=0\r\n0\r\n\r\n",
    "HEAD /t/api/info HTTP/1.1\r\nExpect: 100-continue\r\n\r\n",
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: seeds FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = std::string(argv[1]) + '/';
  using Tail = RecordingBuilder::Tail;
  sample(true).write(folder + "finished.fkt");
  sample(false).write(folder + "no-catalogue.fkt");
  sample(false).write(folder + "unfinished.fkt", Tail::none);
  sample(false).write(folder + "stream.fkt", Tail::stream);
  sample(false).in_groups(2).write(folder + "groups.fkt");
  sample(false).in_groups(1).write(folder + "groups-stream.fkt", Tail::stream);
  RecordingBuilder().section(FKT_SEC_CATALOGUE, "").write(folder + "empty.fkt");
  RecordingBuilder big(16384);
  big.section(FKT_SEC_CATALOGUE, "").event(7, kStart, FKT_E_NMI);
  big.write(folder + "large-page.fkt");
  fkt::test::BusyRecording(1, 2, 150).builder().write(folder + "busy.fkt");
  fkt::test::RandomRecording(2, 2, 600).builder().write(folder + "random.fkt");
  if (!write_slice(folder + "slice.fkt")) return 1;
  write_calls(folder);
  write_frames(folder);
  write_pages(folder);
  if (!write_programs(folder)) return 1;
  int number = 0;
  for (const char* text : kExpressions) {
    std::ofstream(folder + "expression-" + std::to_string(number++)) << text;
  }
  number = 0;
  for (const char* text : kInstruments) {
    std::ofstream(folder + "instrument-" + std::to_string(number++)) << text;
  }
  number = 0;
  for (const char* text : kKftConfigs) {
    std::ofstream(folder + "kft-config-" + std::to_string(number++)) << text;
  }
  number = 0;
  for (const char* text : kRequests) {
    std::ofstream(folder + "request-" + std::to_string(number++)) << text;
  }
  std::ofstream(folder + "event-format") << kEventFormat;
  std::ofstream(folder + "snapshot-ask") << "fkt-snapshot-1 5000000 a file";
  std::ofstream(folder + "instruments-ask") << "fkt-instruments-1 remove";
  std::ofstream(folder + "snapshot-answer") << "written a file: 1 events of 0.1 s";
  std::ofstream(folder + "kft.lst") << " Entry Delta PID Function Called At\n"
                                       "1 0 0 start a+0x1\n2 90 0 read start+0x2\n"
                                       "10 20 0 irq read+0x3\n12 5 -1 tick irq+0x4\n"
                                       "20 30 0 schedule read+0x5\n25 no exit 33i ack x+0x6\n"
                                       "30 9 33 write y+0x7\n55 -2 0 read read+0x8\n";
  return 0;
}
