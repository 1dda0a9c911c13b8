// SPDX-License-Identifier: GPL-2.0-only
// Measures ring.h in user space: the cost of writing an event, compared with reading the time-stamp
// counter alone.
#include <benchmark/benchmark.h>

#include "tests/bench/ring.h"

namespace {

constexpr __u32 kEvent = 0x123;

void bare_clock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(__rdtsc());
}

template <__u32 kWords>
void record(benchmark::State& state) {
  fkt::bench::Ring ring;
  const __u64 words[2] = {0x0123456789abcdef, 0};
  for (auto _ : state)
    fkt_ring_write(ring.get(), fkt_word(0, kEvent, 42), fkt::bench::kPid, words, kWords);
  if (ring.get()->lost != 0) state.SkipWithError("events were lost");
}

BENCHMARK(bare_clock)->Name("rdtsc");
BENCHMARK(record<0>)->Name("record_8_bytes");
BENCHMARK(record<1>)->Name("record_16_bytes");

}  // namespace

BENCHMARK_MAIN();
