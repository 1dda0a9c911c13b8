// SPDX-License-Identifier: GPL-2.0-only
// Tests the programs of instruments: what the verifier refuses and where, and what a run decides,
// emits and reads. The code is the kernel's; memory here is one window of addresses.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fkt/program_run.h>
#include <fkt/program_verify.h>

namespace {

// The only memory that can be read. Ends where a page would end.
constexpr std::uint64_t kWindow = 0x10000, kWindowEnd = 0x10100;
alignas(8) unsigned char window[kWindowEnd - kWindow];

int read_window(void* to, __u64 address, __u32 bytes) {
  if (address < kWindow || address > kWindowEnd - bytes || address % bytes != 0) return 1;
  std::memcpy(to, window + (address - kWindow), bytes);
  return 0;
}

__u64 context_of(const __u64*, __u32 which, __u32 parameter) {
  return which * 1000 + parameter;
}

const fkt_program_rules kRules = {
    .words = 0xff,
    .record_bytes = 16,
    .record = 7,
    .emits = 40,
    .contexts = (1 << FKT_CONTEXTS) - 1,
    .texts = 0,
    .memory = 1,
};

// The block of memory that is a program.
struct Block {
  std::vector<std::uint64_t> words;
  std::size_t bytes = 0;

  fkt_program* head() { return reinterpret_cast<fkt_program*>(words.data()); }
};

Block block(const std::vector<fkt_insn>& insns, std::uint16_t emits = 40,
            const std::vector<std::string>& texts = {}) {
  Block made;
  made.bytes = FKT_PROGRAM_BYTES(insns.size(), texts.size());
  made.words.resize(made.bytes / 8);
  fkt_program* program = made.head();
  program->insns = static_cast<std::uint16_t>(insns.size());
  program->texts = static_cast<std::uint16_t>(texts.size());
  program->words = emits;
  std::copy(insns.begin(), insns.end(), program->insn);
  for (std::size_t i = 0; i < texts.size(); i++) {
    char* text = reinterpret_cast<char*>(&program->insn[insns.size()]) + i * FKT_PROGRAM_TEXT_BYTES;
    std::strncpy(text, texts[i].c_str(), FKT_PROGRAM_TEXT_BYTES);
  }
  return made;
}

fkt_insn insn(fkt_op op, std::uint32_t how = FKT_FROM_CONST) {
  fkt_insn made{};
  made.op = static_cast<__u8>(op);
  made.how = static_cast<__u8>(how);
  return made;
}
fkt_insn word(fkt_op op, std::uint32_t index) {
  fkt_insn made = insn(op, FKT_FROM_WORD);
  made.index = static_cast<__u8>(index);
  return made;
}
fkt_insn constant(fkt_op op, std::uint64_t value) {
  fkt_insn made = insn(op);
  made.value = value;
  return made;
}
// Continues, or drops, unless word 0 is `value` or at most `span` more.
fkt_insn test_word(std::uint64_t value, std::uint64_t span,
                   std::uint16_t target = FKT_TARGET_DROP) {
  fkt_insn made = word(FKT_OP_TEST, 0);
  made.value = value;
  made.span = span;
  made.target = target;
  return made;
}
fkt_insn load(fkt_op op, std::uint32_t from, std::uint32_t index, std::int32_t offset,
              std::uint32_t bytes) {
  fkt_insn made = insn(op, from | FKT_HOW_FETCH);
  made.index = static_cast<__u8>(index);
  made.offset = offset;
  made.load = static_cast<__u8>(bytes);
  return made;
}
fkt_insn jump(std::uint16_t target) {
  fkt_insn made = insn(FKT_OP_JUMP);
  made.target = target;
  return made;
}

std::pair<std::uint32_t, std::uint32_t> verdict(Block made,
                                                const fkt_program_rules& rules = kRules) {
  fkt_program_check check;
  const fkt_program_verdict says = fkt_program_verify(made.head(), made.bytes, &rules, &check);
  return {says.verdict, says.at};
}
std::pair<std::uint32_t, std::uint32_t> wrong(fkt_verdict what, std::uint32_t at) {
  return {what, at};
}
const auto kGood = wrong(FKT_VERDICT_GOOD, 0).first;

struct Run {
  fkt_run result;
  std::vector<std::uint64_t> words;
  bool cut;
};

Run run(Block made, std::vector<std::uint64_t> hit) {
  REQUIRE(verdict(made).first == kGood);
  hit.resize(8);
  const std::uint64_t record[2] = {0x1122334455667788, 0x99aabbccddeeff00};
  hit[7] = reinterpret_cast<std::uint64_t>(record);
  std::vector<std::uint64_t> words(made.head()->words);
  std::vector<__u64> values(hit.begin(), hit.end());
  std::vector<__u64> out(words.size() + 1, 0x5a);
  fkt_emitted emitted = {out.data(), 0, 0};
  const fkt_run result =
      fkt_program_run(made.head(), values.data(), &emitted, read_window, context_of);
  CHECK(out.back() == 0x5a);
  if (result != FKT_RUN_KEEP) return {result, {}, false};
  REQUIRE(emitted.used <= words.size());
  return {result, {out.begin(), out.begin() + emitted.used}, emitted.cut != 0};
}
fkt_run decides(const Block& made, std::uint64_t first_word) {
  return run(made, {first_word}).result;
}
std::vector<std::uint64_t> emits(const Block& made, const std::vector<std::uint64_t>& hit = {}) {
  const Run one = run(made, hit);
  CHECK(one.result == FKT_RUN_KEEP);
  return one.words;
}

using Words = std::vector<std::uint64_t>;

fkt_insn words_of_record(std::int32_t offset, std::uint16_t bytes) {
  fkt_insn made = load(FKT_OP_EMIT_WORDS, FKT_FROM_RECORD, 7, offset, 8);
  made.size = bytes;
  return made;
}

}  // namespace

TEST_CASE("a test of a range is every comparison with a constant") {
  const Block above = block({test_word(65, 0x7fffffffffffffffULL - 65)});  // signed, > 64
  CHECK(decides(above, 64) == FKT_RUN_DROP);
  CHECK(decides(above, 65) == FKT_RUN_KEEP);
  CHECK(decides(above, 0x7fffffffffffffffULL) == FKT_RUN_KEEP);
  CHECK(decides(above, static_cast<std::uint64_t>(-1)) == FKT_RUN_DROP);
  const Block other = block({test_word(6, ~1ULL)});  // != 5
  CHECK(decides(other, 4) == FKT_RUN_KEEP);
  CHECK(decides(other, 5) == FKT_RUN_DROP);
  CHECK(decides(other, 6) == FKT_RUN_KEEP);
  const Block below = block({test_word(1ULL << 63, (1ULL << 63) - 1)});  // signed, < 0
  CHECK(decides(below, static_cast<std::uint64_t>(-2)) == FKT_RUN_KEEP);
  CHECK(decides(below, 0) == FKT_RUN_DROP);
  CHECK(decides(block({}), 0) == FKT_RUN_KEEP);
}

TEST_CASE("either of two tests") {
  // word 0 == 1 || word 0 == 5: the first that holds jumps over the second
  const Block either = block({test_word(2, ~1ULL, 2), jump(2), test_word(1, 4)});
  CHECK(verdict(either).first == kGood);
  const Block one_or_five = block({test_word(1, 0, 2), jump(3), test_word(5, 0)});
  CHECK(decides(one_or_five, 1) == FKT_RUN_KEEP);
  CHECK(decides(one_or_five, 5) == FKT_RUN_KEEP);
  CHECK(decides(one_or_five, 3) == FKT_RUN_DROP);
}

TEST_CASE("bits, and two values that are known only at the hit") {
  fkt_insn bits = word(FKT_OP_TEST_BITS, 0);
  bits.value = 6;
  bits.target = FKT_TARGET_DROP;
  CHECK(decides(block({bits}), 4) == FKT_RUN_KEEP);
  CHECK(decides(block({bits}), 1) == FKT_RUN_DROP);
  bits.flags = FKT_INSN_NOT;
  CHECK(decides(block({bits}), 4) == FKT_RUN_DROP);
  CHECK(decides(block({bits}), 1) == FKT_RUN_KEEP);
  const auto holds = [](fkt_compare compare, std::uint64_t left, std::uint64_t right) {
    fkt_insn both = word(FKT_OP_TEST_POP, 0);
    both.compare = static_cast<__u8>(compare);
    both.target = FKT_TARGET_DROP;
    return run(block({word(FKT_OP_PUSH, 1), both}), {left, right}).result == FKT_RUN_KEEP;
  };
  const auto minus = static_cast<std::uint64_t>(-1);
  CHECK(holds(FKT_COMPARE_EQ, 3, 3));
  CHECK_FALSE(holds(FKT_COMPARE_NE, 3, 3));
  CHECK(holds(FKT_COMPARE_LT, minus, 0));
  CHECK_FALSE(holds(FKT_COMPARE_BELOW, minus, 0));
  CHECK(holds(FKT_COMPARE_LE, 3, 3));
  CHECK_FALSE(holds(FKT_COMPARE_BELOW, 3, 3));
  CHECK(holds(FKT_COMPARE_BELOW_EQ, 0, minus));
}

TEST_CASE("words, constants, context and arithmetic are emitted") {
  fkt_insn pair = word(FKT_OP_EMIT_WORDS, 1);
  pair.size = 16;
  CHECK(emits(block({word(FKT_OP_EMIT, 0), pair}), {1, 2, 3}) == Words{1, 2, 3});
  fkt_insn chance = insn(FKT_OP_EMIT, FKT_FROM_CONTEXT);
  chance.index = FKT_CONTEXT_CHANCE;
  chance.size = 7;
  CHECK(emits(block({chance})) == Words{FKT_CONTEXT_CHANCE * 1000 + 7});
  const auto result = [](fkt_op op, std::uint64_t left, std::uint64_t right) {
    return emits(
        block({constant(FKT_OP_PUSH, left), constant(op, right), insn(FKT_OP_EMIT, FKT_FROM_POP)}));
  };
  CHECK(result(FKT_OP_SUB, 7, 3) == Words{4});
  CHECK(result(FKT_OP_MUL, 7, 3) == Words{21});
  CHECK(result(FKT_OP_DIV, 7, 0) == Words{0});
  CHECK(result(FKT_OP_MOD, 7, 0) == Words{0});
  CHECK(result(FKT_OP_MOD, 7, 4) == Words{3});
  CHECK(result(FKT_OP_SHL, 1, 65) == Words{2});
  CHECK(result(FKT_OP_SHR, 8, 2) == Words{2});
  CHECK(result(FKT_OP_XOR, 6, 3) == Words{5});
}

TEST_CASE("loads follow pointers, narrow, and fail as a whole") {
  const std::uint64_t inner = kWindow + 0x40, value = 0xfffffff0'80000001;
  std::memcpy(window + 8, &inner, 8);
  std::memcpy(window + 0x48, &value, 8);
  fkt_insn narrow = load(FKT_OP_EMIT, FKT_FROM_POP, 0, 8, 4);
  CHECK(emits(block({load(FKT_OP_PUSH, FKT_FROM_WORD, 0, 8, 8), narrow}), {kWindow}) ==
        Words{0x80000001});
  narrow.how |= FKT_HOW_SIGNED;
  narrow.left = narrow.right = 32;
  CHECK(emits(block({load(FKT_OP_PUSH, FKT_FROM_WORD, 0, 8, 8), narrow}), {kWindow}) ==
        Words{0xffffffff80000001});
  fkt_insn field = load(FKT_OP_EMIT, FKT_FROM_WORD, 0, 0x48, 8);  // bits 4 to 7 of the upper half
  field.left = 24;
  field.right = 60;
  CHECK(emits(block({field}), {kWindow}) == Words{0xf});
  CHECK(emits(block({load(FKT_OP_EMIT, FKT_FROM_RECORD, 7, 8, 2)})) == Words{0xff00});
  CHECK(emits(block({words_of_record(0, 16)})) == Words{0x1122334455667788, 0x99aabbccddeeff00});
  CHECK(run(block({load(FKT_OP_EMIT, FKT_FROM_WORD, 0, 8, 8)}), {0}).result == FKT_RUN_FAULT);
}

TEST_CASE("strings: fixed and as long as they are, from any address, never beyond their page") {
  const auto string = [](std::uint64_t from, std::uint32_t size, std::uint32_t flags) {
    fkt_insn made = insn(FKT_OP_EMIT_STRING, FKT_FROM_WORD);
    made.size = static_cast<__u16>(size);
    made.flags = static_cast<__u8>(flags);
    return run(block({made}), {from});
  };
  const std::string text = "abcdefghijklmnopqrst";
  for (std::uint64_t shift = 0; shift < 16; shift++) {
    for (std::size_t length = 0; length <= text.size(); length++) {
      std::memset(window, 'X', sizeof window);
      std::memcpy(window + shift, text.c_str(), length);
      window[shift + length] = 0;
      const Run whole = string(kWindow + shift, 24, 0),
                tail = string(kWindow + shift, 24, FKT_INSN_TAIL);
      std::string expected = text.substr(0, length);
      expected.resize(24);
      CHECK(std::memcmp(whole.words.data(), expected.data(), 24) == 0);
      CHECK(whole.words.size() == 3);
      CHECK(tail.words.size() == (length + 7) / 8);
      CHECK(std::equal(tail.words.begin(), tail.words.end(), whole.words.begin()));
      const Run cut = string(kWindow + shift, 16, 0);
      CHECK(cut.cut == (length >= 16));
      CHECK(std::memcmp(cut.words.data(), expected.data(), 16) == 0);
    }
  }
  window[sizeof window - 1] = 0;  // the string's end is the page's
  CHECK(string(kWindowEnd - 3, 24, 0).result == FKT_RUN_KEEP);
  window[sizeof window - 1] = 'X';
  CHECK(string(kWindowEnd - 3, 24, 0).result == FKT_RUN_FAULT);
}

TEST_CASE("strings are matched with patterns") {
  std::memset(window, 0, sizeof window);
  std::memcpy(window + 3, "passwd.old", 10);
  fkt_insn match = insn(FKT_OP_MATCH, FKT_FROM_WORD);
  match.target = FKT_TARGET_DROP;
  const auto result = [&](const char* pattern) {
    return run(block({match}, 0, {pattern}), {kWindow + 3}).result;
  };
  CHECK(result("passwd*") == FKT_RUN_KEEP);
  CHECK(result("*.o?d") == FKT_RUN_KEEP);
  CHECK(result("passwd") == FKT_RUN_DROP);
  match.flags = FKT_INSN_NOT;
  CHECK(result("passwd*") == FKT_RUN_DROP);
  CHECK(result("shadow") == FKT_RUN_KEEP);
  CHECK(run(block({match}, 0, {"a"}), {kWindowEnd}).result == FKT_RUN_FAULT);
}

TEST_CASE("the verifier says what is wrong and where") {
  const fkt_insn push = word(FKT_OP_PUSH, 0), emit = word(FKT_OP_EMIT, 0);
  const fkt_insn pop = insn(FKT_OP_EMIT, FKT_FROM_POP);
  CHECK(verdict(block({push, pop})).first == kGood);
  CHECK(verdict(block({pop})) == wrong(FKT_VERDICT_UNDERFLOW, 0));
  CHECK(verdict(block({push})) == wrong(FKT_VERDICT_DEPTH, 0));
  CHECK(verdict(block(std::vector<fkt_insn>(9, push))) == wrong(FKT_VERDICT_OVERFLOW, 8));
  CHECK(verdict(block({emit, word(FKT_OP_EMIT, 8)})) == wrong(FKT_VERDICT_OPERAND, 1));
  CHECK(verdict(block({emit, emit}, 1)) == wrong(FKT_VERDICT_WORDS, 1));
  CHECK(verdict(block({emit}, 41)) == wrong(FKT_VERDICT_WORDS, 0));
  CHECK(verdict(block({emit, jump(1)})) == wrong(FKT_VERDICT_TARGET, 1));
  CHECK(verdict(block({emit, jump(3)})) == wrong(FKT_VERDICT_TARGET, 1));
  CHECK(verdict(block({jump(2), emit})) == wrong(FKT_VERDICT_UNREACHED, 1));
  CHECK(verdict(block({test_word(0, 0, 2), emit, emit})) == wrong(FKT_VERDICT_JOIN, 1));
  CHECK(verdict(block({push, test_word(0, 0)})) == wrong(FKT_VERDICT_DEPTH, 1));
  CHECK(verdict(block({load(FKT_OP_EMIT, FKT_FROM_WORD, 0, 0, 3)})) == wrong(FKT_VERDICT_LOAD, 0));
  CHECK(verdict(block({words_of_record(0, 24)})) == wrong(FKT_VERDICT_LOAD, 0));
  CHECK(verdict(block({words_of_record(8, 16)})) == wrong(FKT_VERDICT_LOAD, 0));
  CHECK(verdict(block({words_of_record(-8, 16)})) == wrong(FKT_VERDICT_LOAD, 0));
  CHECK(verdict(block({words_of_record(0, 12)})) == wrong(FKT_VERDICT_STRING, 0));
  fkt_insn narrowed = words_of_record(0, 8);
  narrowed.right = 8;
  CHECK(verdict(block({narrowed})) == wrong(FKT_VERDICT_LOAD, 0));
  narrowed = words_of_record(0, 16);
  narrowed.load = 4;
  CHECK(verdict(block({narrowed})) == wrong(FKT_VERDICT_LOAD, 0));
  CHECK(verdict(block({load(FKT_OP_EMIT, FKT_FROM_RECORD, 7, 9, 8)})) ==
        wrong(FKT_VERDICT_LOAD, 0));
  CHECK(verdict(block({load(FKT_OP_EMIT, FKT_FROM_RECORD, 7, -1, 8)})) ==
        wrong(FKT_VERDICT_LOAD, 0));
  CHECK(verdict(block({load(FKT_OP_EMIT, FKT_FROM_RECORD, 6, 0, 8)})) ==
        wrong(FKT_VERDICT_OPERAND, 0));
  fkt_insn odd = emit;
  odd.offset = 8;
  CHECK(verdict(block({odd})) == wrong(FKT_VERDICT_FLAGS, 0));
  odd = emit;
  odd.op = FKT_OPS;
  CHECK(verdict(block({odd})) == wrong(FKT_VERDICT_OP, 0));
  odd = emit;
  odd.left = 1;
  CHECK(verdict(block({odd})) == wrong(FKT_VERDICT_NARROW, 0));
  fkt_insn string = insn(FKT_OP_EMIT_STRING, FKT_FROM_WORD);
  string.size = 12;
  CHECK(verdict(block({string})) == wrong(FKT_VERDICT_STRING, 0));
  string.size = 16;
  string.flags = FKT_INSN_TAIL;
  CHECK(verdict(block({string, emit})) == wrong(FKT_VERDICT_AFTER_TAIL, 1));
  CHECK(verdict(block({insn(FKT_OP_MATCH)})) == wrong(FKT_VERDICT_VALUE, 0));
  fkt_insn match = insn(FKT_OP_MATCH, FKT_FROM_WORD);
  match.target = FKT_TARGET_DROP;
  CHECK(verdict(block(std::vector<fkt_insn>(9, match), 0, {"a"})) == wrong(FKT_VERDICT_MATCHES, 8));
  CHECK(verdict(block({}, 0, {"", std::string(32, 'a')})) == wrong(FKT_VERDICT_TEXT, 1));
  Block short_one = block({emit});
  short_one.bytes -= 8;
  CHECK(verdict(short_one) == wrong(FKT_VERDICT_SIZE, 0));
  fkt_program_rules none = kRules;
  none.contexts = 0;
  fkt_insn pid = insn(FKT_OP_EMIT, FKT_FROM_CONTEXT);
  CHECK(verdict(block({pid})).first == kGood);
  CHECK(verdict(block({pid}), none) == wrong(FKT_VERDICT_OPERAND, 0));
}

TEST_CASE("where memory is closed, a program reads texts alone, and their addresses not at all") {
  fkt_program_rules closed = kRules;
  closed.memory = 0;
  closed.texts = 1 << 3;
  const auto refused = [&](const fkt_insn& insn) {
    return verdict(block({insn}, 40, {"a"}), closed) == wrong(FKT_VERDICT_MEMORY, 0);
  };
  const auto of = [](fkt_op op, __u8 how, __u8 index, __u8 load, __s32 offset) {
    fkt_insn made = insn(op, how);
    made.index = index;
    made.load = load;
    made.offset = offset;
    if (op == FKT_OP_TEST || op == FKT_OP_MATCH) made.target = FKT_TARGET_DROP;
    return made;
  };
  constexpr __u8 kFetch = FKT_FROM_WORD | FKT_HOW_FETCH;
  CHECK(refused(of(FKT_OP_TEST, kFetch, 1, 8, 0)));
  CHECK(refused(of(FKT_OP_TEST, FKT_FROM_CONST | FKT_HOW_FETCH, 0, 1, 0)));
  CHECK(refused(of(FKT_OP_TEST, FKT_FROM_WORD, 3, 0, 0)));
  CHECK(refused(of(FKT_OP_EMIT, FKT_FROM_WORD, 3, 0, 0)));
  CHECK(refused(of(FKT_OP_TEST, kFetch, 3, 0, 8)));
  CHECK(refused(of(FKT_OP_MATCH, FKT_FROM_WORD, 2, 0, 0)));
  CHECK(refused(of(FKT_OP_MATCH, FKT_FROM_CONST, 0, 0, 0)));
  CHECK(refused(of(FKT_OP_MATCH, kFetch, 3, 0, 8)));
  fkt_insn push = of(FKT_OP_PUSH, FKT_FROM_WORD, 2, 0, 0);
  CHECK(verdict(block({push, of(FKT_OP_MATCH, FKT_FROM_POP, 0, 0, 0)}, 40, {"a"}), closed) ==
        wrong(FKT_VERDICT_MEMORY, 1));
  CHECK(verdict(block({of(FKT_OP_MATCH, FKT_FROM_WORD, 3, 0, 0)}, 40, {"a"}), closed).first ==
        kGood);
  CHECK(verdict(block({of(FKT_OP_TEST, FKT_FROM_WORD, 2, 0, 0)}), closed).first == kGood);
}
