// SPDX-License-Identifier: GPL-2.0-only
// What system calls are about: their arguments, as strace(1) shows them, and the files and sockets
// of their descriptors, which are learned from calls that return one, from calls of layers fs,
// socket and transport in a call with one, and from copies of a process's descriptors.
//
//   CallSubjects subjects(analysis);
//   for (const Event& event : recording.events()) subjects.add(event, analysis.add(event));
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/file_names.h"
#include "lib/analyse/io_use.h"
#include "lib/format/call_arguments.h"

namespace fkt {

// Returns the device's name, "8:1" if the recording has none.
std::string device_name(const RecordingInfo& info, std::uint64_t device);
// Returns the address of the socket's peer, "10.0.2.2:80" or "[::1]:80"; "-": it has none.
std::string peer_text(const IoUse::Object& socket);
// "tcp port 39126 to 10.0.2.2:80"
std::string socket_text(const IoUse::Object& socket);
// Returns the file's path in `names`, else "inode 12 on vda".
std::string file_text(const RecordingInfo& info, const FileNames& names, const IoUse::Object& file);

class CallSubjects {
 public:
  // analysis: outlives this object.
  explicit CallSubjects(const Analysis& analysis) : analysis_(analysis) {}

  // Adds an event of which Analysis::add() returned `place`.
  void add(const Event& event, const Analysis::Found& place);
  // Returns the arguments of the system call that the task is in, or was in last:
  // "5</mnt/app.db>, 0x7ffd0010, 4096"; its file or socket where they were not recorded. Empty:
  // neither is known.
  std::string about(TaskIndex task) const;
  // Returns the file or the socket that call is about: that of its descriptor, else its path.
  // Empty: none is known.
  std::string file(TaskIndex task) const;
  // Returns the path or the socket of that descriptor of the task's process; empty: not known.
  std::string descriptor(TaskIndex task, std::uint64_t number) const;

 private:
  struct Subject {
    std::string text;  // a path as a program gave it; a kind of descriptor
    IoUse::Object file, socket;
    bool on_exec = false;  // closed by execve(2)
  };
  struct Call {
    std::string_view name;  // without "sys_"
    std::vector<CallArgument> arguments;
    std::vector<std::string> files;  // of the arguments that are descriptors, when it began
    Subject subject;
    std::uint64_t file_since = 0, socket_since = 0;  // when the call began that tells it (ticks)
    std::uint64_t begin = 0;                         // ticks
  };
  using Descriptors = std::map<std::uint32_t, Subject>;

  void begin(const Event& event, const EventType& type, TaskIndex task);
  void end(const Event& event, const EventType& type, TaskIndex task);
  void add_object(const Event& event, const EventType& type, const Analysis::Found& place);
  void close(const Call& call, Descriptors& descriptors) const;
  std::string text(const Subject& subject) const;
  TaskIndex process(TaskIndex task) const;

  const Analysis& analysis_;
  FileNames names_;
  std::unordered_map<TaskIndex, Call> calls_;
  std::unordered_map<TaskIndex, Descriptors> descriptors_;  // by process
};

}  // namespace fkt
