// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/program_builder.h"

#include <fkt/program_verify.h>

#include <algorithm>
#include <cstring>

namespace fkt {
namespace {

Error too_much(const char* what, unsigned most) {
  return {ErrorCode::usage,
          "too long for the kernel: at most " + std::to_string(most) + " " + what};
}

}  // namespace

ProgramBlock::ProgramBlock(const std::vector<fkt_insn>& insns,
                           const std::vector<std::string>& texts, std::uint16_t words)
    : memory_(FKT_PROGRAM_BYTES(insns.size(), texts.size()) / 8) {
  auto* const head = reinterpret_cast<fkt_program*>(memory_.data());
  head->insns = static_cast<std::uint16_t>(insns.size());
  head->texts = static_cast<std::uint16_t>(texts.size());
  head->words = words;
  std::ranges::copy(insns, head->insn);
  char* text = reinterpret_cast<char*>(head->insn + insns.size());
  for (const std::string& one : texts) {
    std::memcpy(text, one.data(), std::min<std::size_t>(one.size(), FKT_PROGRAM_TEXT_BYTES));
    text += FKT_PROGRAM_TEXT_BYTES;
  }
}

ProgramBuilder::Label ProgramBuilder::new_label() {
  labels_.push_back(0);
  return labels_.size() - 1;
}

void ProgramBuilder::place(Label label) {
  labels_[label] = insns_.size();
}

void ProgramBuilder::add(fkt_op op, const Fetch& operand) {
  fkt_insn insn{};
  insn.op = static_cast<__u8>(op);
  add(insn, operand);
}

// Pushes the address of a text that the record has elsewhere. Returns the operand that pops it.
Fetch ProgramBuilder::push_address(const Fetch& operand) {
  Fetch word;
  word.index = operand.index;
  add(FKT_OP_PUSH, word);
  Fetch offset;
  offset.from = FKT_FROM_RECORD;
  offset.index = operand.index;
  offset.offset = operand.offset;
  offset.load = 4;
  offset.left = offset.right = 48;
  add(FKT_OP_ADD, offset);
  Fetch address;
  address.from = FKT_FROM_POP;
  address.offset = *operand.text_base;
  address.is_text = true;
  return address;
}

// Pushes a first value that is not a word of the hit: an indexed address, or a constant. Returns
// the operand that continues from there.
Fetch ProgramBuilder::push_begin(const Fetch& operand) {
  fkt_insn insn{};
  insn.op = FKT_OP_PUSH;
  if (operand.indexed) {
    insn.index = operand.indexed->word;
    insns_.push_back(insn);
    fkt_insn shift{};
    shift.op = FKT_OP_SHL;
    shift.how = FKT_FROM_CONST;
    shift.value = operand.indexed->shift;
    insns_.push_back(shift);
    insn.op = FKT_OP_ADD;
    insn.index = operand.index;
    if (operand.indexed->has_base) insns_.push_back(insn);
  } else {
    insn.how = FKT_FROM_CONST;
    insn.value = operand.constant;
    insns_.push_back(insn);
  }
  Fetch rest = operand;
  rest.indexed.reset();
  rest.from = FKT_FROM_POP;
  rest.index = 0;
  return rest;
}

void ProgramBuilder::add(const fkt_insn& insn, const Fetch& operand) {
  if (operand.text_base) return add(insn, push_address(operand));
  if (operand.indexed || operand.from == FKT_FROM_CONST) return add(insn, push_begin(operand));
  Fetch pointer;
  pointer.from = operand.from;
  pointer.index = operand.index;
  pointer.parameter = operand.parameter;
  pointer.load = 8;
  for (const std::int32_t offset : operand.pointers) {
    pointer.offset = offset;
    insns_.push_back(with_operand(FKT_OP_PUSH, pointer));
    pointer.from = FKT_FROM_POP;
    pointer.index = 0;
    pointer.parameter = 0;
  }
  fkt_insn made = with_operand(static_cast<fkt_op>(insn.op), operand);
  made.flags = insn.flags;
  made.compare = insn.compare;
  made.value = insn.value;
  made.span = insn.span;
  if (insn.size != 0) made.size = insn.size;
  insns_.push_back(made);
}

void ProgramBuilder::add_jump(Label target) {
  fkt_insn insn{};
  insn.op = FKT_OP_JUMP;
  insn.how = FKT_FROM_CONST;
  insns_.push_back(insn);
  last_jumps_to(target);
}

void ProgramBuilder::last_jumps_to(Label target) {
  jumps_.emplace_back(insns_.size() - 1, target);
}

void ProgramBuilder::emit(const Fetch& operand, std::uint16_t text_bytes) {
  fkt_insn insn{};
  insn.op = operand.is_text ? FKT_OP_EMIT_STRING : FKT_OP_EMIT;
  if (operand.is_text) insn.size = text_bytes;
  add(insn, operand);
  words_ = static_cast<std::uint16_t>(words_ + (operand.is_text ? text_bytes / 8 : 1));
}

void ProgramBuilder::emit_record_bytes(const RecordBytes& bytes) {
  for (std::uint32_t at = 0; at < bytes.size; at += 8) {
    const std::uint32_t rest = std::min(bytes.size - at, 8u), offset = bytes.offset + at;
    const auto unused = static_cast<std::uint8_t>(64 - 8 * rest);
    if (rest == 8) {
      emit_record_word(bytes.word, offset);
      continue;
    }
    Fetch piece;
    piece.from = FKT_FROM_RECORD;
    piece.index = bytes.word;
    piece.offset = static_cast<std::int32_t>(offset);
    if ((rest & (rest - 1)) == 0) {
      piece.load = static_cast<std::uint8_t>(rest);
    } else if (offset + 8 <= bytes.record_bytes) {
      piece.load = 8;
      piece.left = piece.right = unused;
    } else {  // the last bytes of the record: loaded with some before them
      piece.load = 8;
      piece.offset -= unused / 8;
      piece.right = unused;
    }
    add(FKT_OP_EMIT, piece);
    words_++;
  }
}

void ProgramBuilder::emit_record_word(std::uint8_t word, std::uint32_t offset) {
  words_++;
  Fetch piece;
  piece.from = FKT_FROM_RECORD;
  piece.index = word;
  piece.offset = static_cast<std::int32_t>(offset);
  piece.load = 8;
  fkt_insn next = with_operand(FKT_OP_EMIT_WORDS, piece);
  next.size = 8;
  const bool is_target = std::ranges::find(labels_, insns_.size()) != labels_.end();
  if (!insns_.empty() && !is_target) {
    fkt_insn& last = insns_.back();
    const bool continues = last.op == next.op && last.how == next.how && last.index == word &&
                           last.offset + last.size == next.offset &&
                           last.size < FKT_PROGRAM_STRING_BYTES;
    if (continues) {
      last.size = static_cast<__u16>(last.size + 8);
      return;
    }
  }
  insns_.push_back(next);
}

void ProgramBuilder::emit_number(std::uint64_t number) {
  fkt_insn insn{};
  insn.op = FKT_OP_EMIT;
  insn.how = FKT_FROM_CONST;
  insn.value = number;
  insns_.push_back(insn);
  words_++;
}

Result<std::uint16_t> ProgramBuilder::text(std::string_view text) {
  if (text.size() >= FKT_PROGRAM_TEXT_BYTES) {
    return Error{ErrorCode::usage, "the text is too long: at most " +
                                       std::to_string(FKT_PROGRAM_TEXT_BYTES - 1) + " characters"};
  }
  const auto known = std::ranges::find(texts_, text);
  if (known == texts_.end() && texts_.size() == FKT_PROGRAM_TEXTS) {
    return too_much("texts", FKT_PROGRAM_TEXTS);
  }
  const auto number = static_cast<std::uint16_t>(known - texts_.begin());
  if (number == texts_.size()) texts_.emplace_back(text);
  return number;
}

Result<ProgramBlock> ProgramBuilder::finish(const fkt_program_rules& rules) {
  if (insns_.size() > FKT_PROGRAM_INSNS) return too_much("instructions", FKT_PROGRAM_INSNS);
  if (words_ > rules.emits) return too_much("words of values (a text has 4)", rules.emits);
  for (const auto& [insn, label] : jumps_) {
    insns_[insn].target =
        label == kDrop ? FKT_TARGET_DROP : static_cast<std::uint16_t>(labels_[label]);
  }
  ProgramBlock block(insns_, texts_, words_);
  fkt_program_check check;
  const fkt_program_verdict says =
      fkt_program_verify(&block.program(), block.bytes(), &rules, &check);
  if (says.verdict == FKT_VERDICT_GOOD) return block;
  if (says.verdict == FKT_VERDICT_MATCHES) {
    return too_much("comparisons with texts", FKT_PROGRAM_MATCHES);
  }
  return Error{ErrorCode::usage, "the kernel would refuse the program (verdict " +
                                     std::to_string(says.verdict) + " at instruction " +
                                     std::to_string(says.at) + ")"};
}

}  // namespace fkt
