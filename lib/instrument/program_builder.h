// SPDX-License-Identifier: GPL-2.0-only
// Writes a program (fkt/program.h): instructions, the targets of those that jump, texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fkt/program.h>

#include "lib/base/result.h"
#include "lib/instrument/fetch.h"

namespace fkt {

// A program in the form that the kernel takes.
class ProgramBlock {
 public:
  ProgramBlock() : ProgramBlock({}, {}, 0) {}
  // words: most words that it emits.
  ProgramBlock(const std::vector<fkt_insn>& insns, const std::vector<std::string>& texts,
               std::uint16_t words);

  const fkt_program& program() const {
    return *reinterpret_cast<const fkt_program*>(memory_.data());
  }
  std::size_t bytes() const { return memory_.size() * sizeof memory_[0]; }

 private:
  std::vector<std::uint64_t> memory_;
};

class ProgramBuilder {
 public:
  // A place where an instruction may continue. At kDrop the hit is dropped.
  using Label = std::size_t;
  static constexpr Label kDrop = 0;

  // Returns a label that is not placed yet.
  Label new_label();
  // Places the label at the next instruction.
  void place(Label label);

  // Adds an instruction, after those that push the pointers to its operand.
  void add(fkt_op op, const Fetch& operand);
  void add(const fkt_insn& insn, const Fetch& operand);
  // Adds an instruction without an operand, or whose pointers are already pushed.
  void add(const fkt_insn& insn) { insns_.push_back(insn); }
  // Adds an instruction that always continues at the label.
  void add_jump(Label target);
  // Makes the last instruction continue at the label.
  void last_jumps_to(Label target);
  // Emits the operand. Of a text: text_bytes bytes from the address that the operand is, a multiple
  // of 8.
  void emit(const Fetch& operand, std::uint16_t text_bytes);
  // Emits a constant as one word.
  void emit_number(std::uint64_t number);
  // Emits bytes of a tracepoint's own record as they are, padded with zeros to whole words.
  struct RecordBytes {
    std::uint8_t word = 0;  // of the hit: the record's address
    std::uint32_t record_bytes = 0, offset = 0, size = 0;
  };
  void emit_record_bytes(const RecordBytes& bytes);
  // Emits 8 bytes of the record. word: the hit's word with the record's address; offset: bytes.
  void emit_record_word(std::uint8_t word, std::uint32_t offset);

  // Returns the text's number. Error (usage): it is too long, or there are too many.
  Result<std::uint16_t> text(std::string_view text);

  // Returns the number of words emitted so far.
  std::uint16_t words() const { return words_; }
  // Precondition: every label that is jumped to was placed behind the jump. Two paths that emitted
  // different numbers of words have been made equal with set_words(). Error (usage): the program is
  // too long for the kernel.
  Result<ProgramBlock> finish(const fkt_program_rules& rules);
  // Sets the number of words that paths which meet here have emitted.
  void set_words(std::uint16_t words) { words_ = words; }

 private:
  Fetch push_address(const Fetch& operand);
  Fetch push_begin(const Fetch& operand);

  std::vector<fkt_insn> insns_;
  std::vector<std::string> texts_;
  std::vector<std::size_t> labels_{0};                // instruction's number
  std::vector<std::pair<std::size_t, Label>> jumps_;  // instruction, label
  std::uint16_t words_ = 0;
};

}  // namespace fkt
