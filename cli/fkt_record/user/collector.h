// SPDX-License-Identifier: GPL-2.0-only
// Collects the events of user programs: gives their threads rings, and a thread of its own takes
// the events out of these into pages of the output. In the file each ring takes the place of a CPU,
// which the ring of a later thread may take over; number 0 is that of the collector, with what
// programs have defined.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/fkt_record/sections/file_sections.h"
#include "cli/fkt_record/user/page_file.h"
#include "cli/fkt_record/user/program_functions.h"
#include "cli/fkt_record/user/ring_socket.h"
#include "cli/fkt_record/user/user_clock.h"
#include "cli/fkt_record/user/user_tasks.h"
#include "lib/base/event_fd.h"
#include "lib/format/definitions.h"
#include "lib/user/event_numbers.h"
#include "lib/user/event_order.h"
#include "lib/user/page_writer.h"
#include "lib/user/ring_reader.h"

namespace fkt::record {

struct CollectorRules {
  std::uint64_t recording = 0;  // random id
  std::uint32_t page_bytes = 0;
  std::uint64_t ring_words = 0;  // a power of two
  uid_t user = 0;                // whose programs are recorded
  FunctionRules functions;
};

// What was collected. Read after stop().
struct Collected {
  std::uint64_t events = 0, lost = 0;
  std::uint64_t discarded = 0;   // in pages that were not written
  std::uint64_t unfinished = 0;  // events whose thread ended in the middle of them
  std::uint64_t rings = 0;
  std::uint64_t broken = 0;            // rings with words that are not events
  std::uint64_t refused = 0;           // requests
  std::uint64_t strangers = 0;         // requests of processes that may not ask
  std::uint64_t unasked = 0;           // requests that programs could not send
  std::uint64_t too_deep = 0;          // calls that had no room in the list of a thread's calls
  std::uint64_t late = 0;              // answers that the program did not wait for
  std::vector<std::string> unmatched;  // patterns of functions
  std::uint64_t cpu_ns = 0;            // CPU time of the collector
};

class Collector {
 public:
  // Returns the number of words of a thread's ring. pow_pages: the value of -p.
  static std::uint64_t ring_words(std::uint32_t pow_pages);
  // Listens for programs; their requests are answered from start() on. clock, file: must outlive
  // the result.
  static Result<std::unique_ptr<Collector>> open(const CollectorRules& rules,
                                                 const UserClock& clock, PageFile& file);
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector();

  const std::string& socket_name() const { return socket_->name(); }
  // start_clock: of the recording (ticks).
  Status start(std::uint64_t start_clock);
  // Readable when the collector has ended by itself, because nothing more can be written.
  int ended_fd() const { return ended_.get(); }
  // Takes the events that are in the rings, tells the programs to stop, and ends the thread.
  void stop();

  const Collected& collected() const { return collected_; }
  CpuStates cpus() const;
  const Definitions& definitions() const { return definitions_; }
  const UserTasks& tasks() const { return tasks_; }

 private:
  struct Ring;
  class Sink;
  Collector(const CollectorRules& rules, const UserClock& clock, PageFile& file, UniqueFd ask,
            UniqueFd ended);

  Result<UniqueFd> attach(pid_t tgid, const RingSocket::Thread& asking);
  Result<fkt_user_answer> define(std::string_view text);
  Result<fkt_user_answer> number(const RingSocket::Asker& asker, const fkt_user_func& function);
  void tell(std::string_view lines);
  std::size_t free_slot();
  PageWriter& slot(std::size_t number);
  void run();
  bool take_all(bool is_last);
  bool take(Ring& ring, bool has_ended);
  std::size_t place_for(pid_t tid);
  void release(std::uint64_t until);
  void look_for_ended();
  void call_task(const Ring& ring);
  void end_task(const Ring& ring, RingSink& sink);
  void let_go(Ring& ring);
  void save_old(std::uint64_t now);
  void page_done(const fkt_page_header& header, ByteView page);

  CollectorRules rules_;
  const UserClock& clock_;
  PageFile& file_;
  UniqueFd ask_, ended_;
  std::optional<RingSocket> socket_;
  std::uint64_t start_clock_ = 0, saved_ = 0, ticks_per_second_ = 0, least_ticks_ = 0;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::map<pid_t, unsigned> of_process_;  // rings by tgid
  std::vector<std::unique_ptr<PageWriter>> slots_;
  std::vector<unsigned> used_;                        // by how many rings, by slot
  std::map<std::size_t, EventOrder> orders_;          // of slots that two rings of a thread share
  std::map<std::uint32_t, std::uint64_t> discarded_;  // by slot
  EventNumbers numbers_;
  ProgramFunctions functions_;
  Definitions definitions_;
  UserTasks tasks_;
  Collected collected_;
  std::size_t next_name_ = 0;  // index in rings_ of the thread whose name is read next
  bool untold_ = false;        // lines of definitions_ are not in a written page yet
  bool over_ = false;
  std::jthread thread_;
};

}  // namespace fkt::record
