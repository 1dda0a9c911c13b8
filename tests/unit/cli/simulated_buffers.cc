// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/cli/simulated_buffers.h"

namespace fkt::test {

SimulatedBuffers::SimulatedBuffers(std::uint64_t pages_offset) : pages_offset_(pages_offset) {
  builder_.section(FKT_SEC_COMMAND, command("drain", 0x601));
  for (const std::uint32_t cpu : {0U, 1U}) builder_.event(cpu, now_, FKT_E_SYS_ENTRY, 39);
  for (std::uint64_t ms = 0; ms < kMilliseconds; ms++) step(ms);
  // The stop closes the open pages after the last event of the drain.
  for (const std::uint32_t cpu : {0U, 1U}) builder_.event(cpu, now_, FKT_E_SYS_EXIT, 42);
}

std::string SimulatedBuffers::command(const char* engine, unsigned mask) {
  return R"({"recorder_pid":10,"workload_pid":42,"command":["work"],"mask":)" +
         std::to_string(mask) + R"(,"filter":"none","filter_pid":0,"engine":")" + engine + "\"}";
}

SimulatedBuffers SimulatedBuffers::made() {
  SimulatedBuffers first(0);
  first.finish();
  return SimulatedBuffers(first.pages_offset());
}

void SimulatedBuffers::step(std::uint64_t ms) {
  const bool busy = ms >= 8 && ms < 16;
  for (std::uint64_t i = 0; i < (busy ? 2 : ms % 2); i++) {
    for (const std::uint32_t cpu : {0U, 1U}) fill(cpu);
  }
  finish_write();
  if (ms % 2 == 1) wake(ms >= 9 && ms < 20 ? 5 * kMs : kMs / 2);
  now_ = RecordingBuilder::kStart + (ms + 1) * kMs;
}

void SimulatedBuffers::fill(std::uint32_t cpu) {
  if (is_.free == 0) return;  // events would be lost here
  builder_.event(cpu, ++now_, FKT_E_SYS_EXIT, 42);
  builder_.close_page(cpu);
  is_.filled++;
  waiting_++;
  keep();
  builder_.event(cpu, ++now_, FKT_E_SYS_ENTRY, 39);
  is_.free--;
  keep();
}

void SimulatedBuffers::wake(std::uint64_t cost) {
  tell(FKT_E_DRAIN_WAKE, 0, is_.free << 32 | waiting_);
  if (is_.free < is_.allocated / 8) {
    is_.extra += 4;
    is_.allocated += 4;
    is_.free += 4;
    tell(FKT_E_PAGES_EXTRA, 4, 0);
  }
  const std::uint64_t taken = std::min(waiting_, kChunk);
  if (taken == 0 || in_flight_ > 0) return;
  waiting_ -= taken;
  in_flight_ = taken;
  done_at_ = now_ + cost;
  const std::uint64_t position = pages_offset_ + is_.submitted * 4096;
  is_.submitted += taken;
  tell(FKT_E_PAGES_SUBMITTED, taken, position);
}

void SimulatedBuffers::finish_write() {
  if (in_flight_ == 0 || now_ < done_at_) return;
  const std::uint64_t position = pages_offset_ + is_.written * 4096;
  is_.written += in_flight_;
  tell(FKT_E_PAGES_WRITTEN, in_flight_, position);
  is_.free += in_flight_;
  is_.returned += in_flight_;
  tell(FKT_E_PAGES_RECYCLED, in_flight_, 0);
  in_flight_ = 0;
}

void SimulatedBuffers::tell(std::uint32_t id, std::uint64_t pages, std::uint64_t word) {
  builder_.event(0, ++now_, id, static_cast<std::uint32_t>(pages), {word});
  keep();
}

void SimulatedBuffers::keep() {
  is_.clock = now_;
  truth_.push_back(is_);
}

}  // namespace fkt::test
