// SPDX-License-Identifier: GPL-2.0-only
// ring.h in user space, with the instructions that the kernel module uses. One thread writes;
// complete pages are recycled at once, so page switches are included and disk writes are not.
#pragma once

#include <linux/types.h>
#include <x86intrin.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

struct fkt_ring;
inline void fkt_bench_recycle(fkt_ring* ring, __u32 run);

#define FKT_RING_ONE_CPU
#define fkt_ring_clock() __rdtsc()
#define fkt_ring_wake(ring, run) fkt_bench_recycle(ring, run)
#include <fkt/ring_drain.h>
#include <fkt/ring_write.h>

namespace fkt::bench {

constexpr __u32 kPageBytes = 4096;
constexpr __u32 kPages = 1024;  // fkt_record's default per CPU
constexpr __u32 kPid = 4711;

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

}  // namespace fkt::bench

inline void fkt_bench_recycle(fkt_ring* ring, __u32 /*run*/) {
  const fkt_page_identity identity = {1, 2, 0};
  while (fkt_page_header* page = fkt_ring_take(ring)) fkt_ring_put(ring, page, &identity);
}
