// SPDX-License-Identifier: GPL-2.0-only
// Measures ring.h in user space, with the instructions that the kernel module uses: the cost of
// writing an event, compared with reading the time-stamp counter alone. One thread writes; complete
// pages are recycled at once, so page switches are included and disk writes are not.
#include <benchmark/benchmark.h>
#include <linux/types.h>
#include <x86intrin.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

struct fkt_ring;
static void recycle(fkt_ring* ring, __u32 run);

#define FKT_RING_ONE_CPU
#define fkt_ring_clock() __rdtsc()
#define fkt_ring_wake(ring, run) recycle(ring, run)
#include <fkt/ring_drain.h>
#include <fkt/ring_write.h>

namespace {

constexpr __u32 kPageBytes = 4096;
constexpr __u32 kPages = 1024;  // fkt_record's default per CPU
constexpr __u32 kPid = 4711;
constexpr __u32 kEvent = 0x123;

class Ring {
 public:
  Ring() : memory_(std::aligned_alloc(kPageBytes, kPages * kPageBytes), &std::free) {
    if (!memory_) throw std::bad_alloc();
    fkt_ring_init(&ring_, slots_.data(), kPages, kPageBytes);
    for (__u32 i = 0; i < kPages; ++i) put(static_cast<char*>(memory_.get()) + i * kPageBytes);
  }
  fkt_ring* get() { return &ring_; }

 private:
  void put(void* page) {
    const fkt_page_identity identity = {1, 2, 0};
    fkt_ring_put(&ring_, static_cast<fkt_page_header*>(page), &identity);
  }

  std::unique_ptr<void, void (*)(void*)> memory_;
  std::vector<fkt_page_header*> slots_ = std::vector<fkt_page_header*>(kPages);
  fkt_ring ring_;
};

void bare_clock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(__rdtsc());
}

template <__u32 kWords>
void record(benchmark::State& state) {
  Ring ring;
  const __u64 words[2] = {0x0123456789abcdef, 0};
  for (auto _ : state) fkt_ring_write(ring.get(), fkt_word(0, kEvent, 42), kPid, words, kWords);
  if (ring.get()->lost != 0) state.SkipWithError("events were lost");
}

BENCHMARK(bare_clock)->Name("rdtsc");
BENCHMARK(record<0>)->Name("record_8_bytes");
BENCHMARK(record<1>)->Name("record_16_bytes");

}  // namespace

static void recycle(fkt_ring* ring, __u32 /*run*/) {
  const fkt_page_identity identity = {1, 2, 0};
  while (fkt_page_header* page = fkt_ring_take(ring)) fkt_ring_put(ring, page, &identity);
}

BENCHMARK_MAIN();
