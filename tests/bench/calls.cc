// SPDX-License-Identifier: GPL-2.0-only
// Measures the code that calls of kernel functions are traced by in user space: trampoline.S
// itself, and ring.h behind it, which writes a call as module/hits/calls_write.h does.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>

#include <fkt/call_event.h>
#include <fkt/events.h>

#include "tests/bench/ring.h"

extern "C" {
long untraced(long);
long traced(long);

// What trampoline.S refers to. Only the first kind of frame is used, without a task's words.
__u64 fkt_calls_period, fkt_calls_off, fkt_calls_depth;
__u64 fkt_calls_begun, fkt_calls_returned, fkt_calls_too_short;
__u64 fkt_calls_shortest[16];
__u64 fkt_calls_held_shortest = ~0ULL;
__u64 fkt_room_from;
int __preempt_count;
char __SCK__fkt_calls_record, __SCK__fkt_calls_record_arguments;
bool fkt_calls_has_room() {
  return true;
}
#define NEVER_CALLED(name) \
  void name() {            \
    std::abort();          \
  }
NEVER_CALLED(__SCT__fkt_calls_record_arguments)
NEVER_CALLED(fkt_calls_entered)
NEVER_CALLED(fkt_calls_returned_kept)
NEVER_CALLED(fkt_calls_returned_task)
NEVER_CALLED(fkt_calls_returned_held)
NEVER_CALLED(fkt_calls_hold)
}

namespace {

fkt::bench::Ring* ring;
constexpr __u32 kFunction = 4711;

void of_untraced(benchmark::State& state) {
  long sum = 0;
  for (auto _ : state) benchmark::DoNotOptimize(sum += untraced(sum));
}

// shortest: calls of fewer ticks are dropped. Where the stack pointer is as in the last part of a
// task's stack, trampoline.S would ask for room: that is elsewhere in the next page.
noinline void of_traced(benchmark::State& state, __u64 shortest) {
  const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (at % 16384 < 8192) benchmark::DoNotOptimize(__builtin_alloca(8192));
  fkt::bench::Ring written;
  ring = &written;
  fkt_calls_shortest[0] = shortest;
  long sum = 0;
  for (auto _ : state) benchmark::DoNotOptimize(sum += traced(sum));
  if (ring->get()->lost != 0) state.SkipWithError("events were lost");
}

BENCHMARK(of_untraced)->Name("call");
BENCHMARK_CAPTURE(of_traced, dropped, ~0ULL)->Name("call_traced_and_dropped");
BENCHMARK_CAPTURE(of_traced, recorded, 0)->Name("call_traced_and_recorded");

}  // namespace

extern "C" void __SCT__fkt_calls_record(__u64 /*unused*/, __u64 ticks, __u64 now) {
  const auto* const call = static_cast<const __u64*>(__builtin_dwarf_cfa());
  // The time of the entry, as in struct fkt_call: here the counter never stands still.
  const __u64 word = fkt_call_word(call[2], ticks);
  benchmark::DoNotOptimize(now);
  fkt_ring_write(ring->get(), fkt_word(0, FKT_E_CALL, kFunction), fkt::bench::kPid, &word, 1);
}
