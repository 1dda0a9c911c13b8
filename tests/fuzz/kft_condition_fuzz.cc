// SPDX-License-Identifier: GPL-2.0-only
// Conditions of KFT's triggers under libFuzzer. If module/kft/conditions.c compiles a condition,
// the kernel's verifier must accept the program, the library must compile the condition too, and
// for the same hits the result of the kernel's program and that of the library's must be equal. The
// first byte of an input chooses the function of the trigger, and whether the trigger is at its
// entry or its exit; the other bytes are the text of the condition.
#include <bpf/btf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fkt/kft_parse.h>
#include <fkt/program_run.h>
#include <fkt/program_verify.h>

#include "lib/instrument/call_compiler.h"
#include "lib/instrument/instrument.h"
#include "lib/instrument/kft_plan.h"

extern "C" {
#include "conditions.h"
#include "symbols.h"
}

namespace {

constexpr std::size_t kLongest = 2000;  // bytes of a condition
constexpr int kHits = 100;
constexpr std::uint32_t kContexts = FKT_CONTEXTS;

void expect(bool condition) {
  if (!condition) std::abort();
}

// The functions, by their results.
struct Function {
  const char* name;
  std::uint8_t result_bytes;
  bool is_signed;
};
constexpr Function kFunctions[] = {{"s8", 1, true},   {"u8", 1, false},  {"s16", 2, true},
                                   {"u16", 2, false}, {"s32", 4, true},  {"u32", 4, false},
                                   {"s64", 8, true},  {"u64", 8, false}, {"no_result", 0, false}};

fkt::Btf described() {
  const std::unique_ptr<btf, void (*)(btf*)> data(btf__new_empty(), btf__free);
  for (const Function& function : kFunctions) {
    const std::string type = std::string(function.name) + "_t";
    const int encoding = function.is_signed ? BTF_INT_SIGNED : 0;
    const int result = function.result_bytes == 0 ? 0
                                                  : btf__add_int(data.get(), type.c_str(),
                                                                 function.result_bytes, encoding);
    const int prototype = btf__add_func_proto(data.get(), result);
    expect(btf__add_func(data.get(), function.name, BTF_FUNC_STATIC, prototype) > 0);
  }
  std::uint32_t size = 0;
  const void* const raw = btf__raw_data(data.get(), &size);
  auto read = fkt::Btf::from_bytes(std::as_bytes(std::span(static_cast<const char*>(raw), size)));
  expect(static_cast<bool>(read));
  return std::move(*read);
}

// What a hit finds; contexts are those of its task.
struct Hit {
  std::array<std::uint64_t, kContexts> contexts{};
  std::array<char, 16> task{};
  std::uint64_t result = 0, duration = 0, cputime = 0, depth = 0;
};
const Hit* current;

__u64 context_of(const __u64*, __u32 which, __u32) {
  expect(which < kContexts);
  if (which == FKT_CONTEXT_TASK) return reinterpret_cast<std::uintptr_t>(current->task.data());
  return current->contexts[which];
}

int read_task(void* to, __u64 address, __u32 bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(current->task.data());
  if (address < first || address + bytes > first + current->task.size()) return 1;
  std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return 0;
}

// Runs the program on the words. kept: gets what it emits.
bool keeps(const fkt_program& program, const std::vector<__u64>& words, std::vector<__u64>& kept) {
  std::vector<__u64> emitted(program.words);
  fkt_emitted out = {emitted.data(), 0, 0};
  const fkt_run result = fkt_program_run(&program, words.data(), &out, read_task, context_of);
  kept.insert(kept.end(), emitted.begin(), emitted.begin() + out.used);
  return result == FKT_RUN_KEEP;
}

std::vector<__u64> words_of(const Hit& hit) {
  return {hit.result, 0, hit.duration, hit.cputime, hit.depth};
}

// Numbers about the limits of the tests.
void add_limits(const fkt_program& program, std::vector<std::uint64_t>& numbers) {
  for (const fkt_insn& insn : std::span(program.insn, program.insns)) {
    if (insn.op != FKT_OP_TEST) continue;
    for (const std::uint64_t limit : {insn.value, insn.value + insn.span}) {
      for (const std::uint64_t number : {limit - 1, limit, limit + 1}) numbers.push_back(number);
    }
  }
}

class Hits {
 public:
  Hits(std::vector<std::uint64_t> numbers, std::vector<std::string> tasks, std::uint32_t seed)
      : numbers_(std::move(numbers)), tasks_(std::move(tasks)), random_(seed) {}

  Hit next() {
    Hit hit;
    for (std::uint64_t& context : hit.contexts) context = number();
    for (const fkt_context of :
         {FKT_CONTEXT_PID, FKT_CONTEXT_TID, FKT_CONTEXT_UID, FKT_CONTEXT_CPU})
      hit.contexts[of] &= UINT32_MAX;
    hit.contexts[FKT_CONTEXT_LEVEL] %= FKT_LEVEL_NMI + 1;
    const std::string& task = tasks_[random_() % tasks_.size()];
    task.copy(hit.task.data(), hit.task.size() - 1);
    hit.result = number();
    // Of a result that has fewer bits than its register, the others are anything.
    if (random_() % 2 == 0) hit.result ^= std::uint64_t{random_()} << 32;
    hit.duration = number();
    hit.cputime = std::min(number(), hit.duration);
    hit.depth = number();
    return hit;
  }

 private:
  std::uint64_t number() { return numbers_[random_() % numbers_.size()]; }

  std::vector<std::uint64_t> numbers_;
  std::vector<std::string> tasks_;
  std::mt19937 random_;
};

// Names that the patterns fit, and that they do not.
std::vector<std::string> tasks_of(const fkt_program& program) {
  std::vector<std::string> tasks = {"", "perl", "x"};
  for (std::uint32_t i = 0; i < program.texts; i++) {
    std::string text = fkt_program_text(&program, i);
    tasks.push_back(text);
    std::erase(text, '*');
    tasks.push_back(text);
    std::ranges::replace(text, '?', 'y');
    tasks.push_back(text + "z");
  }
  return tasks;
}

void check_error(std::string_view text, const fkt_kft_error& error) {
  const std::string_view message = error.message;
  expect(!message.empty() && message.size() < FKT_KFT_ERROR_BYTES);
  expect(std::ranges::all_of(message, [](char c) { return c >= ' ' && c <= '~'; }));
  expect(error.line == 1 && error.column >= 1 && error.column <= text.size() + 1);
}

// What the kernel makes of a trigger.
struct Made {
  std::unique_ptr<std::uint64_t[]> memory =
      std::make_unique<std::uint64_t[]>(FKT_KFT_PROGRAM_BYTES / sizeof(std::uint64_t));
  fkt_kft_needs needs{};

  const fkt_program& program() const { return *reinterpret_cast<const fkt_program*>(&memory[0]); }
};

void check_verified(const Made& made, std::size_t bytes, bool at_exit) {
  const fkt_program_rules rules = at_exit ? fkt_call_exit_rules(0) : fkt_entry_rules();
  fkt_program_check check;
  expect(bytes <= FKT_KFT_PROGRAM_BYTES);
  expect(fkt_program_verify(&made.program(), bytes, &rules, &check).verdict == FKT_VERDICT_GOOD);
  for (const fkt_insn& insn : std::span(made.program().insn, made.program().insns)) {
    const bool is_of_task = (insn.how & FKT_HOW_FROM) == FKT_FROM_WORD &&
                            (insn.index == FKT_CALL_CPUTIME || insn.index == FKT_CALL_DEPTH);
    expect(!is_of_task || made.needs.of_task);
  }
}

// Returns the programs that the library compiles for the same configuration.
fkt::CallPrograms of_library(const std::string& text, const char* function, bool at_exit,
                             bool by_probe) {
  static const fkt::Btf types = described();
  const auto nameless = [](std::uint64_t) { return fkt::Result<std::string>(std::string("none")); };
  const auto plan = fkt::plan_kft(text, "conf", nameless);
  expect(static_cast<bool>(plan));
  const fkt::Instrument& instrument = plan->instruments.front();
  const auto prototype = types.prototype(function);
  expect(static_cast<bool>(prototype));
  const fkt::CallContext context = {types, 1e9, fkt::FlagNames::none(), by_probe, nullptr};
  auto programs = at_exit ? fkt::compile_call(instrument, *prototype, context)
                          : fkt::compile_entry(instrument, *prototype, context);
  expect(static_cast<bool>(programs));
  return std::move(*programs);
}

void check_same(const Made& made, const fkt::CallPrograms& library, bool at_exit,
                std::uint32_t seed) {
  std::vector<std::uint64_t> numbers = {0, 1, 2, 3, 1000, ~0ULL, 1ULL << 63, 1ULL << 31, 0xff80};
  add_limits(made.program(), numbers);
  add_limits(library.exit.program(), numbers);
  Hits hits(numbers, tasks_of(made.program()), seed);
  for (int i = 0; i < kHits; i++) {
    const Hit hit = hits.next();
    current = &hit;
    std::vector<__u64> nothing, words = at_exit ? words_of(hit) : std::vector<__u64>(6);
    const bool kernel_keeps = keeps(made.program(), words, nothing);
    expect(nothing.empty());
    bool library_keeps;
    if (at_exit) {
      library_keeps = keeps(library.entry.program(), std::vector<__u64>(6), words) &&
                      keeps(library.exit.program(), words, nothing);
    } else {
      library_keeps = keeps(library.entry.program(), words, nothing);
    }
    expect(kernel_keeps == library_keeps);
    if (at_exit && kernel_keeps) expect(hit.duration >= made.needs.shortest);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fkt_kft_config config;
  if (size < 2 || size > kLongest) return 0;
  // A condition ends with its line: what follows could be another trigger.
  if (std::memchr(data + 1, '\n', size - 1) != nullptr) return 0;
  const Function& function = kFunctions[(data[0] & 0xf) % std::size(kFunctions)];
  const bool at_exit = (data[0] & 0x10) == 0, is_described = (data[0] & 0x20) == 0;
  const std::string text = std::string("trigger stop ") + (at_exit ? "exit " : "entry ") +
                           function.name + " if " +
                           std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  fkt_kft_error error{};
  const bool is_good =
      fkt_kft_parse(text.data(), static_cast<__u32>(text.size()), &config, &error) != 0;
  if (!is_good || config.stop.condition.bytes == 0) return 0;
  fkt_kft_symbol symbol{};
  symbol.is_described = is_described;
  symbol.result_bytes = function.result_bytes;
  symbol.is_result_signed = function.is_signed;
  Made made;
  const __u32 bytes = fkt_kft_write_trigger(&made.memory[0], text.data(), &config.stop, &symbol,
                                            &made.needs, &error);
  if (bytes == 0) {
    check_error(text, error);
    return 0;
  }
  check_verified(made, bytes, at_exit);
  const fkt::CallPrograms library = of_library(text, function.name, at_exit, !is_described);
  check_same(made, library, at_exit, static_cast<std::uint32_t>(size + data[size - 1]));
  return 0;
}
