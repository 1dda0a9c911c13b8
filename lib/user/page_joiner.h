// SPDX-License-Identifier: GPL-2.0-only
// Puts the events of user programs, which were collected in pages of their own, among the kernel's:
// each into the stream of the CPU on which its thread ran when it happened. The kernel's events say
// where that was, so switches must be among them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "lib/base/result.h"
#include "lib/read/page_decoder.h"
#include "lib/read/page_source.h"
#include "lib/read/recording.h"
#include "lib/user/page_writer.h"

namespace fkt {

class PageJoiner {
 public:
  struct Rules {
    std::uint64_t recording = 0;  // random id
    std::uint32_t page_bytes = 0;
    std::uint64_t stop = 0;  // clock of the recording's end (ticks): later events are not in it
    // Clocks of two CPUs differ by no more than this (ticks).
    std::uint64_t nearby = 0;
  };
  // Pages of one source; those of each CPU in order.
  struct Pages {
    const PageSource& source;
    std::span<const PageRef> refs;
  };
  // Numbers of user programs' events that were added to a CPU.
  struct Added {
    std::uint64_t events = 0;
    std::uint64_t lost = 0;
    std::uint64_t pages = 0;  // of the CPU, with the kernel's events
  };

  // table: of the events in all pages. take: gets the new pages; must stay valid.
  PageJoiner(const Rules& rules, const WordTable& table, PageWriter::Take take);
  ~PageJoiner();
  PageJoiner(const PageJoiner&) = delete;
  PageJoiner& operator=(const PageJoiner&) = delete;

  // Called once. user: pages in which the ring of a thread, or of several threads in turn, has the
  // number of a CPU. Error: a page cannot be read.
  Status join(const Pages& kernel, const Pages& user);

  // By CPU.
  std::map<std::uint32_t, Added> added() const;
  // Returns the number of events of threads that the kernel's events never show running; they are
  // in no page.
  std::uint64_t without_place() const;

 private:
  // An event of a user program; or `words[0]` lost ones since words[1] (ticks).
  struct Held {
    std::uint64_t clock = 0;
    bool is_gap = false;
    std::uint32_t id = 0, arg = 0;
    std::vector<std::uint64_t> words;
  };
  struct Cpu;
  class Stream;

  Cpu& cpu(std::uint32_t number);
  void kernel_event(Stream& stream);
  void user_event(Stream& stream);
  void runs(Cpu& on, std::uint32_t tid, std::uint64_t clock);
  void put(Cpu& on, std::uint32_t tid, const Held& event, std::span<const std::uint64_t> words);
  void hold(std::deque<Held>& held, const Held& event, std::span<const std::uint64_t> words);
  static std::size_t bytes_of(const Held& event);
  void release(Cpu& on, std::uint32_t tid, std::uint64_t clock);

  Rules rules_;
  const WordTable& table_;
  PageWriter::Take take_;
  std::map<std::uint32_t, std::unique_ptr<Cpu>> cpus_;
  std::unordered_map<std::uint32_t, Cpu*> where_;             // by thread that runs
  std::unordered_map<std::uint32_t, std::deque<Held>> held_;  // by thread that does not
  std::size_t held_bytes_ = 0;
};

}  // namespace fkt
