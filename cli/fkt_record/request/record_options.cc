// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/request/record_options.h"

#include "cli/fkt_record/kft/kft_options.h"

namespace fkt::record {
namespace {

constexpr const char* kDefaultLevel = "3";  // kDefaultGroupLevel

using cli::value;

}  // namespace

void add_record_options(cli::Options& options) {
  auto add = options.section("Output");
  add(",f", value("FILE"),
      "the record file: a file, a block device that is not mounted, - for standard output, or "
      "tcp://HOST:PORT for fkt_receive there (default: trace_file)");
  add("token-file", value("FILE"), "fkt_receive's token (default: that of FKT_TOKEN)");
  add("wait", value("T"), "for a fkt_receive that is not heard of (default: 30s)");
  add("force", "overwrite a file that is no FKT file, or a device with a file system");
  add(",s", value("SIZE"),
      "stop after so many bytes of pages (k, M, G; default: what the file system has left, "
      "less a reserve)");
  add(",S", value("System.map"), "add this file's symbols to the kernel's own");
  add = options.section("Output by --drain=uring, which these imply");
  add(",z", cli::optional_value("[LEVEL]", kDefaultLevel),
      "compress the pages with zstd (1 to 19; without LEVEL 3; -z5, not -z 5)");
  add("rotate", value("SIZE"),
      "begin another file after so many bytes (k, M, G): FILE.000001, FILE.000002, ..., each "
      "complete by itself");
  add("keep", value("N"), "of these files, keep the last N that are complete (default: all)");
  add = options.section("What is recorded");
  add(",k", value("LAYERS"),
      "layers, as names (system,process,fs), bits (0x441) or files of instruments "
      "(./my.layer); default: system,process");
  add("also", value("LAYERS"), "make these ready, so that fkt_enable can add them while it runs");
  add("layers", "show the layers, and where their instruments are listed; record nothing");
  add("args", "system calls with their six arguments");
  add("instrument,i", cli::values("PLACE"),
      "also kernel functions, tracepoints, instructions: call:vfs_*, 'call:ext4:* if duration "
      "> 1ms && ret < 0', fn:vfs_*:entry, tp:block:*, at:vfs_read+0; can be given several times");
  add("keep-children", cli::optional_value("[=N|P%]", ""),
      "of the calls that -i records, also record the calls in them, whatever their duration: "
      "all, to N calls deep, or with at least P% of the time; --keep-children=3, not "
      "--keep-children 3");
  add("list", cli::values("PLACE"),
      "show the functions, tracepoints and instructions that this place is, with -v also those "
      "left out and why; record nothing");
  add("pid", value("PID"), "only this process, with all its threads; without COMMAND as -n");
  add("only", "only COMMAND and its descendants, from its execve on");
  add(",n", "spawn nothing: record until Ctrl-C or --duration");
  add("from-boot",
      "from an initramfs: record in the background, into a file in memory, until fkt_record "
      "--boot; without --kft, -i and -k what fkt.kft=... on the kernel's command line says");
  add("boot", "end what --from-boot began, and write it to the disk");
  add("user-only",
      "events of COMMAND and its descendants that use fkt/user.h, and nothing of the kernel: "
      "needs no module and no privileges");
  add("functions",
      "also the functions of programs that are compiled with -finstrument-functions or -pg "
      "-mfentry; with -k, --only, -i ... among what the kernel does, else as --user-only");
  add(",t", value("TIME"),
      "with --functions: only calls that take at least so long (ns, us, ms; seconds if bare)");
  add("duration", value("T"), "stop after this time (ns, us, ms, s, m, h; seconds if bare)");
  add("user", value("NAME"),
      "run COMMAND as this user, who gets the file (default under sudo: its caller)");
  add_kft_options(options);
  options.section("Presets, whose options give way to those that are given, too");
  options.preset("storage", "-k system,process,fs,block --args", "what files and disks do");
  options.preset("latency", "-k system,process,timer,workqueue", "why something came late");
  options.preset("locks", "-k system,process,lock --args", "who waits for which lock");
  options.preset("network", "-k system,process,socket,transport,net --args", "what sockets do");
  add = options.section("How it is recorded");
  add(",p", value("POW"), "2^POW pages of 4 KiB per CPU (1 to 16; default: 10)");
  add("drain", value("ENGINE"),
      "how pages get to the output: auto (default), direct, buffered, checkin, sendfile, uring");
  add("when-full", value("pause|stop|overwrite"),
      "when a CPU has no free page: lose events and count them (default), stop, or overwrite "
      "the oldest: flight recorder, whose pages are written at the end");
  add("sync", value("T"),
      "have the disk keep what is written, once in so long (default: 1s; 0: never)");
  add("flight", value("SIZE"),
      "--when-full=overwrite, keeping the last SIZE bytes (k, M, G) of all CPUs, which "
      "fkt_snapshot and SIGUSR1 write while it goes on");
  add("snapshot-when", value("EXPR"),
      "have a flight recorder write a snapshot when this is true of a call at its end, or of "
      "an event: 'name == \"sys_fsync\" && duration > 50ms', 'name == \"hung_task\"'");
  add("snapshot-after", value("T"),
      "... and by SIGUSR1, with what happens within this time (default: 0)");
  add("snapshots", value("N"), "... at most so many by --snapshot-when (default: 10)");
  add("no-self", "leave out what fkt_record and the module's own threads do; their switches stay");
  add("self", "of functions by a pattern (call:*) also the calls that the option above leaves out");
  add("no-pairs", "a word for each begin and each end, also where they would fit one");
  add("clock", value("tsc|mono"), "time stamps from the TSC (default) or CLOCK_MONOTONIC");
  add("no-summary", "on a terminal: do not end with a summary of what was recorded");
  add(",q", "no status line, no end line; warnings and errors only");
  add(",v", "say more: what the file has beside the events, how pages were written");
  options.command();
}

}  // namespace fkt::record
