// SPDX-License-Identifier: GPL-2.0-only
// Executes random instructions in their place and in the detours that
// module/arch/x86/splices/detour.c makes of them: all registers, flags and memory must become the
// same.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include <fkt/code_rules.h>

#include "lib/blocks/instruction.h"
#include "tests/unit/blocks/made_code.h"

extern "C" {
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
#include "module/splices/detour.h"
}

#ifdef __x86_64__

using namespace fkt;

namespace {

// Operands with 32 bits reach all of this.
constexpr std::uintptr_t kRegion = 0x30000000;
constexpr std::size_t kRegionBytes = 0x10000;
constexpr std::uint32_t kEnter = kRegion, kCode = kRegion + 0x1000, kPlace = kRegion + 0x2000;
constexpr std::uint32_t kTarget = kRegion + 0x3000;  // of jumps
constexpr std::uint32_t kSaved = kRegion + 0x4000;   // the stack pointer
constexpr std::uint32_t kCount = kSaved + 8, kMask = kSaved + 16, kJumped = kSaved + 24;
constexpr std::uint32_t kCalled = kRegion + 0x5000;
constexpr std::uint32_t kStack = kRegion + 0x6000;
constexpr std::uint32_t kData = kRegion + 0x8000, kReach = 2048;
// Carry, parity, adjust, zero, sign, overflow.
constexpr std::uint64_t kFlags = 0x8d5;

// In the order in which they are popped: the flags; ax, cx, dx, bx, bp, si, di, r8 to r15.
struct State {
  std::array<std::uint64_t, 16> words;
  std::uint64_t& of(unsigned reg) { return words[reg < 4 ? reg + 1 : reg]; }
  bool operator==(const State&) const = default;
};

struct Outcome {
  State state;
  std::array<std::uint8_t, 2 * kReach> memory;
  bool jumped;
  bool operator==(const Outcome&) const = default;
};

class Machine {
 public:
  Machine() {
    void* const at =
        mmap(reinterpret_cast<void*>(kRegion), kRegionBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE(at == reinterpret_cast<void*>(kRegion));
    // push bx, bp, r12 to r15; mov %rsp, kSaved; mov $kStack, %esp; popf; pops; jmp kCode
    write(kEnter, code_bytes("53 55 41 54 41 55 41 56 41 57 48 89 24 25") + word(kSaved) + '\xbc' +
                      word(kStack) +
                      code_bytes("9d 58 59 5a 5b 5d 5e 5f 41 58 41 59 41 5a 41 5b "
                                 "41 5c 41 5d 41 5e 41 5f"));
    jump(end_, kCode);
    // The end, and what a jump leads to: movb $1, kJumped first.
    write(kTarget, code_bytes("c6 04 25") + word(kJumped) + '\1');
    leave_ = end_;
    // ... pushes; pushf; mov kSaved, %rsp; pops; cld; ret
    // A function that changes all but one of the registers that a callee may change, which it keeps
    // for its callers, and the flags; it counts itself if its argument is kCode.
    write(kCalled, code_bytes("57 50 48 81 ff") + word(kCode) + code_bytes("75 08 48 ff 04 25") +
                       word(kCount) + code_bytes("48 31 c0 48 83 e8 01 48 31 ff 58 5f c3"));
    write(leave_, code_bytes("41 57 41 56 41 55 41 54 41 53 41 52 41 51 41 50 57 56 55 53 52 51 50 "
                             "9c 48 8b 24 25") +
                      word(kSaved) + code_bytes("41 5f 41 5e 41 5d 41 5c 5d 5b fc c3"));
  }
  ~Machine() { munmap(reinterpret_cast<void*>(kRegion), kRegionBytes); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  static std::string word(std::uint32_t value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  void write(std::uint32_t at, std::string_view bytes) {
    std::memcpy(reinterpret_cast<void*>(std::uintptr_t{at}), bytes.data(), bytes.size());
    end_ = at + static_cast<std::uint32_t>(bytes.size());
  }
  void jump(std::uint32_t at, std::uint32_t to) { write(at, '\xe9' + word(to - at - 5)); }
  // Lets what runs after the instruction, which ends at this address, come to the end.
  void leave_from(std::uint32_t at) { jump(at, leave_); }

  Outcome run(const State& state, const std::array<std::uint8_t, 2 * kReach>& memory) {
    auto* const data = reinterpret_cast<std::uint8_t*>(std::uintptr_t{kData - kReach});
    std::memcpy(data, memory.data(), memory.size());
    std::memcpy(reinterpret_cast<void*>(std::uintptr_t{kStack}), &state, sizeof state);
    auto* const jumped = reinterpret_cast<volatile std::uint8_t*>(std::uintptr_t{kJumped});
    *jumped = 0;
    reinterpret_cast<void (*)()>(std::uintptr_t{kEnter})();
    Outcome out{};
    std::memcpy(&out.state, reinterpret_cast<void*>(std::uintptr_t{kStack}), sizeof out.state);
    out.state.words[0] &= kFlags;
    std::memcpy(out.memory.data(), data, out.memory.size());
    out.jumped = *jumped != 0;
    return out;
  }
  std::uint64_t& at(std::uint32_t address) {
    return *reinterpret_cast<std::uint64_t*>(std::uintptr_t{address});
  }

 private:
  std::uint32_t end_ = 0, leave_ = 0;
};

// An instruction of random bytes, and a state in which its operand in memory lies in the data.
class RandomInstruction {
 public:
  explicit RandomInstruction(std::mt19937& random) : random_(random) {}

  // Returns whether it may be spliced and executed.
  bool make() {
    for (std::uint64_t& word : state.words) word = number() | std::uint64_t{number()} << 32;
    state.words[0] = (number() & kFlags) | 0x202;
    bytes.clear();
    if (number() % 8 == 0) bytes += '\x66';
    if (number() % 8 == 0) bytes += '\x65';
    if (number() % 2 == 0) bytes += static_cast<char>(0x40 | number() % 16);
    if (number() % 3 == 0) bytes += '\x0f';
    const auto opcode = static_cast<std::uint8_t>(number());
    if (!bytes.ends_with('\x0f') && is_prefix(opcode)) return false;
    bytes += static_cast<char>(opcode);
    const auto tail = bytes.size();
    while (bytes.size() < kLongestInstruction) bytes += static_cast<char>(number());
    const auto decoded = decode_instruction(view(), kCode);
    if (!decoded || decoded->bytes < FKT_JUMP_BYTES || decoded->fixed != nullptr) return false;
    bytes.resize(decoded->bytes);
    code = code_parts(view());
    return needs_no_stack() && does_not_divide() && place_operand(tail);
  }

  std::string bytes;
  fkt_code code{};
  State state{};

 private:
  std::uint32_t number() { return static_cast<std::uint32_t>(random_()); }
  // Or leads to a second byte of the opcode.
  static bool is_prefix(std::uint8_t byte) {
    constexpr std::uint8_t kOthers[] = {0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x64,
                                        0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
    return (byte & 0xf0) == 0x40 || std::ranges::find(kOthers, byte) != std::end(kOthers);
  }
  ByteView view() const { return as_bytes(bytes); }
  bool is_move_to_register() const { return code.opcode >= 0xb0 && code.opcode <= 0xbf; }
  bool has_modrm() const {
    if (code.opcode < 0x40) return (code.opcode & 7) < 4;
    return code.opcode != 0xa8 && code.opcode != 0xa9 && !is_move_to_register();
  }
  // Whether the byte has more of the opcode instead of a register.
  bool extends_opcode() const {
    constexpr std::uint32_t kGroups[] = {0x80, 0x81, 0x83, 0xc0, 0xc1, 0xc6, 0xc7, 0xd0,
                                         0xd1, 0xd2, 0xd3, 0xf6, 0xf7, 0xfe, 0xff, 0x0fba};
    return std::ranges::find(kGroups, code.opcode) != std::end(kGroups);
  }

  bool needs_no_stack() const {
    if (is_move_to_register()) return fkt_code_register(&code, code.opcode & 7, 1) != 4;
    if (!has_modrm()) return true;
    if (fkt_modrm_mod(&code) == 3 && fkt_code_register(&code, code.modrm & 7, 1) == 4) return false;
    if (code.has_sib && fkt_code_register(&code, code.sib & 7, 1) == 4) return false;
    return extends_opcode() || fkt_code_register(&code, fkt_modrm_reg(&code), 4) != 4;
  }
  // Nor does it address memory by the number of a bit.
  bool does_not_divide() const {
    const bool divides = (code.opcode == 0xf6 || code.opcode == 0xf7) && fkt_modrm_reg(&code) > 5;
    const bool by_bit = code.opcode == 0x0fa3 || code.opcode == 0x0fab || code.opcode == 0x0fb3 ||
                        code.opcode == 0x0fbb;
    return !divides && !(by_bit && fkt_modrm_mod(&code) != 3);
  }

  void set(std::size_t at, std::uint32_t value) { std::memcpy(&bytes[at], &value, sizeof value); }

  // Sets registers and distances so that memory is in reach.
  bool place_operand(std::size_t tail) {
    const bool jumps = code.opcode >= 0x0f80 && code.opcode <= 0x0f8f;
    if (jumps) {
      set(code.distance_at, kTarget - kCode - code.length);
      return true;
    }
    if (code.distance_at != 0) {
      set(code.distance_at, kData + number() % 64 - kCode - code.length);
      return true;
    }
    if (!has_modrm() || fkt_modrm_mod(&code) == 3) return true;
    const std::size_t after = tail + 1 + code.has_sib;
    if (fkt_modrm_mod(&code) == 2) set(after, number() % 128);
    std::uint32_t base = code.modrm & 7;
    if (code.has_sib) {
      const std::uint32_t index = fkt_code_register(&code, code.sib >> 3 & 7, 2);
      base = fkt_code_register(&code, code.sib & 7, 1);
      if (index != 4) state.of(index) = number() % 64;
      if (index == base) return false;
      if ((code.sib & 7) == 5 && fkt_modrm_mod(&code) == 0) {
        set(after, kData + number() % 64);
        return true;
      }
    } else {
      base = fkt_code_register(&code, base, 1);
    }
    state.of(base) = kData + number() % 64;
    return true;
  }

  std::mt19937& random_;
};

}  // namespace

TEST_CASE("an instruction does in its detour what it does in its place, and is seen") {
  Machine machine;
  std::mt19937 random(1);
  RandomInstruction one(random);
  std::array<std::uint8_t, 2 * kReach> memory;
  unsigned done = 0, freed_registers = 0, freed_flags = 0, jumps = 0, distances = 0, operands = 0;
  while (done < 100'000) {
    if (!one.make()) continue;
    done++;
    for (int i = 0; i < 64; i++) memory[kReach - 32 + i * 4] = static_cast<std::uint8_t>(random());
    machine.write(kCode, one.bytes);
    machine.leave_from(kCode + one.code.length);
    const Outcome expected = machine.run(one.state, memory);

    fkt_detour detour;
    const u32 layer = random() % 64;
    REQUIRE(fkt_detour_make(&detour, &one.code, reinterpret_cast<const u8*>(one.bytes.data()),
                            kCode, kPlace, kCount, &machine.at(kMask), layer) == 0);
    machine.write(kPlace, {reinterpret_cast<const char*>(detour.code), detour.code_bytes});
    std::array<u8, FKT_JUMP_BYTES> jump;
    fkt_detour_jump(jump.data(), kCode, kPlace);
    std::string spliced(one.code.length, '\xcc');
    std::memcpy(spliced.data(), jump.data(), jump.size());
    machine.write(kCode, spliced);
    const bool is_counted = random() % 2 != 0;
    machine.at(kMask) = is_counted ? u64{1} << layer : ~(u64{1} << layer);
    machine.at(kCount) = 0;
    const Outcome found = machine.run(one.state, memory);
    if (!(found == expected) || machine.at(kCount) != is_counted) {
      INFO(instruction_text(as_bytes(one.bytes), kCode));
      CHECK(found.state.words == expected.state.words);
      CHECK(found.jumped == expected.jumped);
      CHECK(machine.at(kCount) == is_counted);
      REQUIRE(found == expected);
    }
    // The detour leaves the same registers, flags and memory as the instruction, and counts one
    // hit.
    const auto check_seen = [&] {
      machine.write(kPlace, {reinterpret_cast<const char*>(detour.code), detour.code_bytes});
      machine.at(kCount) = 0;
      const Outcome seen = machine.run(one.state, memory);
      if (seen == expected && machine.at(kCount) == 1) return;
      INFO(instruction_text(as_bytes(one.bytes), kCode));
      CHECK(machine.at(kCount) == 1);
      REQUIRE(seen == expected);
    };
    // The same instruction again, with a detour that calls, with and without clac (which programs
    // may not execute, so only its place is looked at).
    const auto make_call = [&](u32 how) {
      REQUIRE(fkt_detour_make_call(
                  &detour, &one.code, reinterpret_cast<const u8*>(one.bytes.data()), kCode, kPlace,
                  reinterpret_cast<const void*>(std::uintptr_t{kCalled}), how) == 0);
      CHECK(detour.code_bytes <= FKT_COUNTER_BYTES);
      CHECK(detour.stacks <= FKT_COUNTER_STACKS);
      CHECK(detour.code[detour.calls] == 0xe8);
    };
    make_call(FKT_CALL_CLOSES_ACCESS);
    CHECK(std::memcmp(detour.code + 2, "\x0f\x01\xca", 3) == 0);
    make_call(random() % 2 != 0 ? FKT_CALL_WITH_FLAGS : 0);
    check_seen();
    // The same instruction again, with a detour that marks a byte in the place of one that counts.
    REQUIRE(fkt_detour_make_marker(&detour, &one.code,
                                   reinterpret_cast<const u8*>(one.bytes.data()), kCode, kPlace,
                                   reinterpret_cast<const u8*>(&machine.at(kCount))) == 0);
    CHECK(detour.code_bytes <= FKT_MARKER_BYTES);
    check_seen();
    freed_registers += fkt_code_freed_register(&one.code) != FKT_CODE_NO_REGISTER;
    freed_flags += fkt_code_frees_flags(&one.code) != 0;
    jumps += found.jumped;
    distances += one.code.distance_at != 0 && !found.jumped;
    operands += found.memory != memory;
  }
  // Each kind was there.
  CHECK(freed_registers > 1000);
  CHECK(freed_flags > 1000);
  CHECK(jumps > 100);
  CHECK(distances > 1000);
  CHECK(operands > 1000);
}

#endif
