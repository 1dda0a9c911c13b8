// SPDX-License-Identifier: GPL-2.0-only
// libFuzzer target: any program that the verifier accepts can be run, reads memory only through the
// function for it, and emits no more words than its header says.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fkt/program_run.h>
#include <fkt/program_verify.h>

namespace {

constexpr std::uint64_t kWindow = 0x10000;
constexpr std::uint32_t kWindowBytes = 4096;
unsigned char window[kWindowBytes];

void expect(bool condition) {
  if (!condition) std::abort();
}

int read_window(void* to, __u64 address, __u32 bytes) {
  expect(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  if (address < kWindow || address > kWindow + kWindowBytes - bytes) return 1;
  std::memcpy(to, window + (address - kWindow), bytes);
  return 0;
}

__u64 context_of(const __u64*, __u32 which, __u32 parameter) {
  expect(which < FKT_CONTEXTS);
  return which == FKT_CONTEXT_TASK ? kWindow + 5 : parameter;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr fkt_program_rules rules = {.words = 0x1ff,
                                       .record_bytes = 24,
                                       .record = 8,
                                       .emits = 48,
                                       .contexts = 0xfff,
                                       .texts = 0,
                                       .memory = 1};
  std::vector<std::uint64_t> memory(size / 8 + 1);
  std::memcpy(memory.data(), data, size);
  const auto* program = reinterpret_cast<const fkt_program*>(memory.data());
  fkt_program_check check;
  const fkt_program_verdict says = fkt_program_verify(program, size, &rules, &check);
  expect(says.verdict < FKT_VERDICTS);
  if (says.verdict != FKT_VERDICT_GOOD) return 0;
  for (std::uint32_t i = 0; i < kWindowBytes; i++) window[i] = data[i % size];
  // Memory of exactly the sizes that the rules say, for the address sanitizer.
  std::vector<unsigned char> record(rules.record_bytes, 7);
  std::vector<__u64> hit = {0, 1, kWindow, kWindow + 3, kWindow + kWindowBytes - 5, ~0ULL, 64, 7};
  hit.push_back(reinterpret_cast<__u64>(record.data()));
  std::vector<__u64> words(program->words);
  fkt_emitted out = {words.data(), 0, 0};
  const fkt_run result = fkt_program_run(program, hit.data(), &out, read_window, context_of);
  expect(result <= FKT_RUN_FAULT && (result != FKT_RUN_KEEP || out.used <= program->words));
  return 0;
}
